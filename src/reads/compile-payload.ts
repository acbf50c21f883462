import type { FieldNode, GraphQLObjectType, GraphQLOutputType } from "postgraphile/graphql";
import { getNamedType, isObjectType } from "postgraphile/graphql";
import type { Given } from "./arguments.ts";
import type { Statement } from "./compilation.ts";
import { Compilation, fromOf, understood } from "./compilation.ts";
import { identifier, quoted } from "./json-text.ts";
import { isUuidKey } from "./keys.ts";
import type { FieldSource } from "./field-source.ts";
import { objectExpression } from "./objects.ts";
import type { Coerced, ReadableOperation, SelectedField } from "./selection.ts";
import { NotCovered } from "./selection.ts";

/** A field of a payload in the response. */
export type PayloadPart =
  | { kind: "typename" }
  /** A column of the statement has its JSON text. */
  | { kind: "read"; column: number }
  | { kind: "value"; name: string; type: GraphQLOutputType };

export interface CompiledPayload {
  /**
   * The statement that reads the rows of payloads; null when nothing has to be read. Its parameters are the values of the slots,
   * an array of payloads or null, and a key. Without an array it reads the only payload from the result of `mutation.run` that
   * the connection stored with this key. Its last column is the number of the payload that a row is for.
   */
  statement: Statement | null;
  parts: readonly (readonly [key: string, part: PayloadPart])[];
}

/** The setting in which a connection stores the key of its last mutation, followed by the result. */
export const answerSetting = "service.answer";
/** The number of characters of a key. */
export const answerKeyLength = 36;

/** Compiles the statement that reads a payload. @throws {NotCovered} when some part of the payload has no known SQL form */
export function compilePayload(
  operation: ReadableOperation,
  variables: Coerced,
  given: ReadonlyMap<FieldNode, Given>,
  type: GraphQLObjectType,
  selected: SelectedField,
): CompiledPayload {
  const compilation = new Compilation(operation, variables, given, objectExpression);
  const [ids, columns]: [string[], string[]] = [[], []];
  const parts = compilation.select(type, selected).map(([key, part]): [string, PayloadPart] => {
    if (part.name === "__typename") return [key, { kind: "typename" }];
    const { field, source } = understood(type, part.name);
    if (source.kind === "value") return [key, { kind: "value", name: source.name, type: field.type }];
    const named = getNamedType(field.type);
    if (source.kind !== "entity" || !isObjectType(named)) throw new NotCovered(part.name);
    const name = `i${ids.length}`;
    ids.push(`${idsOf(source)} as ${name}`);
    const column = columns.push(entityExpression(compilation, source, named, part, `a.${name}`)) - 1;
    return [key, { kind: "read", column }];
  });
  if (columns.length === 0) return { statement: null, parts };
  const { parameterCount } = compilation;
  const kept = `current_setting(${quoted(answerSetting)},true)`;
  const answers =
    `jsonb_array_elements(coalesce($${parameterCount + 1}::jsonb,` +
    `case when starts_with(${kept},$${parameterCount + 2}::text) ` +
    `then jsonb_build_array(substr(${kept},${answerKeyLength + 1})::jsonb->'payload') end)) with ordinality`;
  const text =
    `select ${columns.join()},a.nth::text from (select ${ids.join()},p.nth from ${answers} p(v,nth) ` +
    `where jsonb_typeof(p.v)='object' offset 0) a`;
  return { statement: compilation.statement(text), parts };
}

type Entity = FieldSource & { kind: "entity" };

/** Returns SQL of the id or the ids in a payload. */
function idsOf({ name, isList }: Entity): string {
  if (!isList) return `(p.v->>${quoted(name)})::uuid`;
  const list = `p.v->${quoted(name)}`;
  return (
    `array(select e::uuid from jsonb_array_elements_text(` +
    `case when jsonb_typeof(${list})='array' then ${list} else '[]' end) e)`
  );
}

/** Returns SQL of the JSON text of the row with an id, or of a list of rows in the order of the ids, without invisible ones. */
function entityExpression(
  compilation: Compilation,
  { rows, isList }: Entity,
  type: GraphQLObjectType,
  selected: SelectedField,
  ids: string,
): string {
  if (!isUuidKey(rows.key)) throw new NotCovered(`ids of ${type.name}`);
  const alias = compilation.alias();
  const id = `${alias}.${identifier(rows.key[0].name)}`;
  const object = compilation.row(type, selected, alias);
  const from = `from ${fromOf(rows.resource)} ${alias} where ${id}=`;
  if (!isList) return `coalesce((select ${object} ${from}${ids}),'null')`;
  const found = compilation.alias();
  return (
    `(select '['||coalesce(string_agg(${found}.t,',' order by ${found}.n),'')||']' from ` +
    `(select ${object} as t,array_position(${ids},${id}) as n ${from}any(${ids})) ${found})`
  );
}
