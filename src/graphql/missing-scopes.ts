import type { GrafastExecutionArgs } from "postgraphile/grafast";
import type {
  DocumentNode,
  FieldNode,
  GraphQLError,
  GraphQLField,
  GraphQLSchema,
  SelectionSetNode,
} from "postgraphile/graphql";
import { getNamedType, valueFromASTUntyped } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import { memoizeByObject, getOrMake } from "../lib/remembered.ts";
import "./context.ts";
import { findDocumentFacts } from "./document-facts.ts";
import type { FilterVariable } from "./filter-relations.ts";
import { filterVariables, forEachRelation, listRelations } from "./filter-relations.ts";
import { withDefaults } from "./given-argument.ts";
import type { Part, Variables } from "./operation.ts";
import { findField, findOperation, listParts } from "./operation.ts";
import type { ScopeRequirement } from "./scopes.ts";

/** A field of an operation that requires scopes, or a relation that a filter in it follows. */
export interface RequiringField extends ScopeRequirement {
  /** Type and field, for example `Product.tags` or `ProductFilterInput.tags`. */
  field: string;
  /** Its first place in the operation, as names in the response. */
  path: string[];
}

/**
 * Returns the fields of an operation that require scopes, each once.
 *
 * The operation must be valid for the schema. Every selection set is visited once, however often fragments are spread,
 * so the work is limited by the length of the document.
 */
export function requiringFields(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): RequiringField[] {
  const { fragments, operation } = findOperation(document, operationName);
  if (!operation) return [];
  const found = new Map<string, RequiringField>();
  const visited = new Set<SelectionSetNode>();
  const values = withDefaults(operation, variables);

  const note = (owner: string, name: string, requirement: ScopeRequirement | undefined, path: string[]) => {
    const field = `${owner}.${name}`;
    if (requirement && !found.has(field)) found.set(field, { field, path, ...requirement });
  };
  const noteFilters = ({ args }: GraphQLField<unknown, unknown>, node: FieldNode, path: string[]) => {
    for (const { name, value } of node.arguments ?? []) {
      const type = args.find((argument) => argument.name === name.value)?.type;
      if (!type) continue;
      forEachRelation(type, valueFromASTUntyped(value, values), (owner, relation) =>
        note(owner, relation.name, relation.extensions.requiresScopes, path),
      );
    }
  };

  const walked = { schema, operation, fragments, variables };
  const walk = (from: Part["type"], selections: SelectionSetNode, path: string[]): void => {
    if (visited.has(selections)) return;
    visited.add(selections);
    for (const { type, field: node, set } of listParts(walked, from, selections)) {
      if (set) {
        walk(type, set, path);
        continue;
      }
      const field = findField(type, node);
      if (!field) continue;
      const here = [...path, node.alias?.value ?? node.name.value];
      note(type!.name, field.name, field.extensions.requiresScopes, here);
      noteFilters(field, node, here);
      if (node.selectionSet) walk(getNamedType(field.type), node.selectionSet, here);
    }
  };
  walk(schema.getRootType(operation.operation), operation.selectionSet, []);
  return [...found.values()];
}

const isMet = ({ anyOf, allOf }: ScopeRequirement, scopes: ReadonlySet<string>): boolean =>
  (!anyOf || anyOf.some((scope) => scopes.has(scope))) &&
  (!allOf || allOf.every((scope) => scopes.has(scope)));

const inWords = ({ anyOf, allOf }: ScopeRequirement): string =>
  [anyOf?.join(" or "), allOf?.join(" and ")].filter(Boolean).join(", and ");

/** Returns one FORBIDDEN error with every field whose requirement the scopes don't meet; null if they meet all. */
export function missingScopes(
  fields: readonly RequiringField[],
  scopes: ReadonlySet<string>,
): GraphQLError | null {
  const missing = fields.filter((field) => !isMet(field, scopes));
  if (missing.length === 0) return null;
  const named = missing.slice(0, 5).map((field) => `${field.field} needs ${inWords(field)}`);
  const more = missing.length > named.length ? `; and ${missing.length - named.length} more fields` : "";
  return apiError("FORBIDDEN", `The token lacks scopes: ${named.join("; ")}${more}.`, {
    missingScopes: missing,
  });
}

interface KnownDocument {
  /** Variables that may hold filters. */
  filters: readonly FilterVariable[];
  /** By the operation's name, the values of its flags, and the relations that its filters follow. */
  variants: Map<string, RequiringField[]>;
}

// The server caches documents, so the same query is the same object.
const knownBySchema = memoizeByObject<GraphQLSchema, WeakMap<DocumentNode, KnownDocument>>(
  () => new WeakMap(),
);
const maxVariants = 32;

function knownFields({ schema, document, operationName, variableValues }: OperationArgs): RequiringField[] {
  const variables = variableValues ?? {};
  const { filters, variants } = getOrMake(knownBySchema(schema), document, () => ({
    filters: filterVariables(schema, document),
    variants: new Map<string, RequiringField[]>(),
  }));
  // Only whether it is given, true or false matters
  let key = operationName ?? "";
  for (const name of findDocumentFacts(schema, document).flags)
    key += ` ${typeof variables[name] === "boolean" ? variables[name] : typeof variables[name]}`;
  if (filters.length > 0) key += ` ${listRelations(filters, variables)}`;
  if (variants.size >= maxVariants && !variants.has(key)) variants.clear();
  return getOrMake(variants, key, () => requiringFields(schema, document, operationName, variables));
}

/** An operation and its caller. */
export type OperationArgs = Pick<
  GrafastExecutionArgs,
  "schema" | "document" | "operationName" | "variableValues" | "contextValue"
>;

// The fields of a cached document, and the scopes of a caller, stay the same objects
const refusals = memoizeByObject<RequiringField[], WeakMap<ReadonlySet<string>, GraphQLError | null>>(
  () => new WeakMap(),
);
const noScopes: ReadonlySet<string> = new Set();

/** Returns FORBIDDEN if the caller lacks a scope for a field of the operation, else null. */
export function scopeRefusal(args: OperationArgs): GraphQLError | null {
  const { scopes = noScopes } = args.contextValue as Grafast.Context;
  const fields = knownFields(args);
  return getOrMake(refusals(fields), scopes, () => missingScopes(fields, scopes));
}
