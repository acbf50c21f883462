import type { GrafastExecutionArgs } from "postgraphile/grafast";
import type { DocumentNode, GraphQLError, GraphQLSchema } from "postgraphile/graphql";
import { Kind, visit } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import "./context.ts";
import type { FilterVariable } from "./filter-relations.ts";
import { filterVariables, relationsOf } from "./filter-relations.ts";
import type { RequiringField } from "./requiring-fields.ts";
import { requiringFields } from "./requiring-fields.ts";
import type { ScopeRequirement } from "./scopes.ts";

const isMet = ({ anyOf, allOf }: ScopeRequirement, scopes: ReadonlySet<string>): boolean =>
  (!anyOf || anyOf.some((scope) => scopes.has(scope))) &&
  (!allOf || allOf.every((scope) => scopes.has(scope)));

const inWords = ({ anyOf, allOf }: ScopeRequirement): string =>
  [anyOf?.join(" or "), allOf?.join(" and ")].filter(Boolean).join(", and ");

/** One FORBIDDEN that names every field whose requirement the scopes don't meet; null when they meet all. */
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

interface Known {
  /** Variables in @skip and @include. */
  flags: readonly string[];
  /** Variables that may hold filters. */
  filters: readonly FilterVariable[];
  /** By the operation's name, the values of its flags, and the relations that its filters follow. */
  variants: Map<string, RequiringField[]>;
}

// The server caches documents, so the same query is the same object.
const known = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, Known>>();
const maxVariants = 32;

function flagsOf(document: DocumentNode): string[] {
  const flags = new Set<string>();
  visit(document, {
    Directive: ({ arguments: given = [] }) => {
      for (const { value } of given) if (value.kind === Kind.VARIABLE) flags.add(value.name.value);
    },
  });
  return [...flags];
}

function knownFields({ schema, document, operationName, variableValues }: OperationArgs): RequiringField[] {
  const variables = variableValues ?? {};
  let documents = known.get(schema);
  if (!documents) known.set(schema, (documents = new WeakMap()));
  let found = documents.get(document);
  if (!found) {
    found = { flags: flagsOf(document), filters: filterVariables(schema, document), variants: new Map() };
    documents.set(document, found);
  }
  const { flags, filters, variants } = found;
  // Only whether it is given, true or false matters
  let key = operationName ?? "";
  for (const name of flags)
    key += ` ${typeof variables[name] === "boolean" ? variables[name] : typeof variables[name]}`;
  if (filters.length > 0) key += ` ${relationsOf(filters, variables)}`;
  let fields = variants.get(key);
  if (!fields) {
    if (variants.size >= maxVariants) variants.clear();
    variants.set(key, (fields = requiringFields(schema, document, operationName, variables)));
  }
  return fields;
}

/** An operation and its caller. */
export type OperationArgs = Pick<
  GrafastExecutionArgs,
  "schema" | "document" | "operationName" | "variableValues" | "contextValue"
>;

// Both stay the same objects, of a document that is kept and of a caller
const refusals = new WeakMap<RequiringField[], WeakMap<ReadonlySet<string>, GraphQLError | null>>();
const noScopes: ReadonlySet<string> = new Set();

/** FORBIDDEN when the caller lacks a scope for a field of the operation; else null. */
export function scopeRefusal(args: OperationArgs): GraphQLError | null {
  const { scopes = noScopes } = args.contextValue as Grafast.Context;
  const fields = knownFields(args);
  let ofFields = refusals.get(fields);
  if (!ofFields) refusals.set(fields, (ofFields = new WeakMap()));
  let refusal = ofFields.get(scopes);
  if (refusal === undefined) ofFields.set(scopes, (refusal = missingScopes(fields, scopes)));
  return refusal;
}
