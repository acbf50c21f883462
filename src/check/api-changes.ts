import type { Change } from "@graphql-inspector/core";
import { CriticalityLevel, diff } from "@graphql-inspector/core";
import type { GraphQLField, GraphQLInputField, GraphQLSchema } from "graphql";
import { buildSchema, isInputObjectType, isObjectType, print, valueFromASTUntyped } from "graphql";
import { LRUCache } from "lru-cache";

/** How a change affects existing clients. */
export type Impact = "breaking" | "dangerous" | "deprecated" | "added" | "changed";

/** A change of the API, or of event payloads. */
export interface ApiChange {
  impact: Impact;
  /** Type, Type.field, Type.field.argument, Enum.VALUE, or topic.field. */
  path: string;
  message: string;
}

/** Caches parsed schemas, because one SDL is often compared several times. */
const schemas = new LRUCache<string, GraphQLSchema>({
  max: 3,
  memoMethod: (sdl) => buildSchema(sdl, { assumeValid: true, assumeValidSDL: true }),
});

/** Builds the schema of an SDL that was printed from a valid schema. */
export const parseSdl = (sdl: string): GraphQLSchema => schemas.memo(sdl);

/** Lists the differences between two SDLs, except descriptions. Parts of a new type or field are not listed separately. */
export async function findApiChanges(before: string, after: string): Promise<ApiChange[]> {
  if (before === after) return [];
  const [old, next] = [parseSdl(before), parseSdl(after)];
  const changes = (await diff(old, next)).filter(
    ({ type, path = "" }) =>
      !/DESCRIPTION|DIRECTIVE_USAGE|DEPRECATION_REASON/.test(type as string) && path !== "",
  );
  const added = new Set(
    changes.filter(({ type }) => /_ADDED$/.test(type as string)).map(({ path }) => path!),
  );
  const types = new Set(changes.filter(({ type }) => type === "TYPE_ADDED").map(({ path }) => path!));
  const own = changes.filter(
    ({ type, path }) => !isWithin(path!, added) && (type === "TYPE_ADDED" || !types.has(path!)),
  );
  return [...own.map(toApiChange), ...findScopeChanges(old, next)].sort((a, b) =>
    a.path.localeCompare(b.path),
  );
}

const isWithin = (path: string, wholes: ReadonlySet<string>): boolean =>
  path.split(".").some((_, index, words) => index > 0 && wholes.has(words.slice(0, index).join(".")));

function toApiChange({ type, path = "", message: text, criticality, meta }: Change): ApiChange {
  const message = type === "FIELD_ARGUMENT_DEFAULT_CHANGED" ? defaultChange(meta as DefaultChange) : text;
  const weight = ((): Impact => {
    if (/DEPRECATION_ADDED/.test(type as string)) return "deprecated";
    if (criticality.level === CriticalityLevel.Breaking) return "breaking";
    // Operations that omit an optional argument work as before
    if (type === "FIELD_ARGUMENT_ADDED") return "added";
    if (criticality.level === CriticalityLevel.Dangerous) return "dangerous";
    return /_ADDED$/.test(type as string) ? "added" : "changed";
  })();
  return { impact: weight, path: path.replace(/\.@deprecated$/, ""), message: `${message}.` };
}

interface DefaultChange {
  typeName: string;
  fieldName: string;
  argumentName: string;
  oldDefaultValue?: string;
  newDefaultValue?: string;
}

/** Describes the change of an argument's default value, also when it has none before or after. */
function defaultChange({
  typeName,
  fieldName,
  argumentName,
  oldDefaultValue,
  newDefaultValue,
}: DefaultChange): string {
  const [old, now] = [oldDefaultValue, newDefaultValue].map((value) => value ?? "none");
  return `The default of argument '${argumentName}' changed from ${old} to ${now} on field '${typeName}.${fieldName}'`;
}

/** Lists fields whose required scopes changed, which breaks clients that lack the new ones. */
function findScopeChanges(old: GraphQLSchema, next: GraphQLSchema): ApiChange[] {
  const scopes = readFieldScopes(old);
  return [...readFieldScopes(next)].flatMap(([path, needed]): ApiChange[] => {
    const before = scopes.get(path);
    if (before === undefined || before.words === needed.words) return [];
    const message = `Field '${path}' requires ${needed.words || "no scope"}, not ${before.words || "no scope"}.`;
    return [{ impact: isStillEnough(before, needed) ? "changed" : "breaking", path, message }];
  });
}

interface Scopes {
  words: string;
  anyOf: ReadonlySet<string>;
  allOf: ReadonlySet<string>;
}

/** Whether the scopes that sufficed before still suffice. */
const isStillEnough = (before: Scopes, needed: Scopes): boolean =>
  needed.allOf.isSubsetOf(before.allOf) &&
  (needed.anyOf.size === 0 || (before.anyOf.size > 0 && before.anyOf.isSubsetOf(needed.anyOf)));

function readFieldScopes(schema: GraphQLSchema): Map<string, Scopes> {
  return new Map(
    Object.values(schema.getTypeMap()).flatMap((type) => {
      if ((!isObjectType(type) && !isInputObjectType(type)) || type.name.startsWith("__")) return [];
      const fields: readonly (GraphQLField<unknown, unknown> | GraphQLInputField)[] = Object.values(
        type.getFields(),
      );
      return fields.map((field): [string, Scopes] => {
        const directive = field.astNode?.directives?.find(({ name }) => name.value === "requiresScopes");
        const listed = (wanted: string): ReadonlySet<string> => {
          const value = directive?.arguments?.find(({ name }) => name.value === wanted)?.value;
          return new Set(value ? (valueFromASTUntyped(value) as string[]) : []);
        };
        const words = directive?.arguments?.map(print).join(", ") ?? "";
        return [`${type.name}.${field.name}`, { words, anyOf: listed("anyOf"), allOf: listed("allOf") }];
      });
    }),
  );
}
