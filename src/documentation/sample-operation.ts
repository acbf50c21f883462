import { hash } from "node:crypto";
import type {
  GraphQLInputObjectType,
  GraphQLInputType,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLSchema,
} from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  parse,
} from "postgraphile/graphql";
import { operationSize } from "../graphql/operation-size.ts";
import { computeCost } from "../graphql/assess.ts";
import { memoizeByObject } from "../lib/remembered.ts";
import exampleValues from "./example-values.json" with { type: "json" };
import type { Field, Model } from "./model.ts";
import { getEntryType, operations } from "./model.ts";

/** An operation that a reader can send, with its cost. */
export interface Sample {
  query: string;
  variables: Record<string, unknown>;
  points: number;
}

/** The most fields of an object in a sample. */
const maxFields = 6;
const pageSize = 5;

const capitalize = (name: string): string => name[0]!.toUpperCase() + name.slice(1);

/** Returns a sample operation for a root field. */
export function createSample(model: Model, field: Field): Sample {
  const operation = operations[model.rootOf(field)];
  const required = field.args.filter(isRequiredArgument);
  const isList = getEntryType(getNamedType(field.type)) !== null;
  const declared = required.map(({ name, type }) => `$${name}: ${String(type)}`);
  const callArguments = required.map(({ name }) => `${name}: $${name}`);
  if (isList && field.args.some(({ name }) => name === "first")) callArguments.unshift(`first: ${pageSize}`);
  const call = field.name + (callArguments.length > 0 ? `(${callArguments.join(", ")})` : "");
  const header = `${operation} ${capitalize(field.name)}${declared.length > 0 ? `(${declared.join(", ")})` : ""}`;
  const query = `${header} {\n${indent(call + createSelection(field.type))}\n}`;
  const owner = getNamedType(field.type).name;
  const variables = Object.fromEntries(
    required.map(({ name, type }) => [name, exampleValue(model.schema, type, name, owner)]),
  );
  const size = operationSize(model.schema, parse(query, { noLocation: true }), null, variables);
  return { query, variables, points: computeCost(size) };
}

const indent = (text: string): string => text.replace(/^/gm, "  ");

/** Returns the selection of a sample on a type; an empty text for scalars and enums. */
export function createSelection(type: GraphQLOutputType, depth = 0): string {
  const target = getNamedType(type);
  if (isLeafType(target)) return "";
  if (!isObjectType(target)) return " { __typename id }";
  const entry = getEntryType(target);
  if (entry) {
    const edges = `edges { node${createSelection(entry as GraphQLObjectType, depth + 1)} }`;
    return ` {\n${indent(`${target.getFields().pageInfo ? "pageInfo { hasNextPage endCursor }\n" : ""}${edges}`)}\n}`;
  }
  const fields = usefulFields(target).map((field) => {
    const below = getNamedType(field.type);
    return field.name + (isLeafType(below) ? "" : createSelection(field.type, depth + 1));
  });
  const isFlat = fields.every((field) => !field.includes(" "));
  return isFlat ? ` { ${fields.join(" ")} }` : ` {\n${indent(fields.join("\n"))}\n}`;
}

/** Returns the fields that a sample selects: the values of an object; in payloads also the objects. */
function usefulFields(type: GraphQLObjectType): Field[] {
  const isEntity = type.getInterfaces().length > 0;
  const all = Object.values(type.getFields()).filter(
    ({ deprecationReason, args }) => deprecationReason == null && !args.some(isRequiredArgument),
  );
  const leaves = all.filter((field) => isLeafType(getNamedType(field.type)) && field.args.length === 0);
  if (isEntity || leaves.length === all.length) return [...leaves].sort(byUse).slice(0, maxFields);
  return all.filter(({ type: shown }) => getEntryType(getNamedType(shown)) === null);
}

/** Compares fields by usefulness: ids first, then names, codes and numbers. */
function byUse(a: Field, b: Field): number {
  const rank = ({ name }: Field) =>
    name === "id" ? 0 : /^(name|code|message|\w*number)$/i.test(name) ? 1 : /(Id|At)$/.test(name) ? 3 : 2;
  return rank(a) - rank(b);
}

/**
 * Values of input types whose made-up values would be refused, and ids of types whose example is not the first that the
 * demonstration has of them.
 */
const values: { objects: Record<string, string>; inputs: Record<string, Record<string, unknown>> } =
  exampleValues;

/** Returns the id that `demo.id` (db/demo) gives the first row of a kind: of `ProductNote`, the kind `product note`. */
function firstId(type: string): string {
  const kind = type.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  const digits = hash("md5", `${kind} 1`);
  return `gid://service/${type}/018fd2d0-0801-7${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`;
}

/** Returns the types with ids, the longest names first: `OrderLineItem` before `LineItem`. */
const objectTypes = memoizeByObject((schema: GraphQLSchema): string[] => {
  const types = schema.getPossibleTypes(schema.getType("Node") as GraphQLInterfaceType);
  const names = new Set([...Object.keys(values.objects), ...types.map(({ name }) => name)]);
  return [...names].sort((a, b) => b.length - a.length);
});

/** Returns an id for an argument or an input field: `id` refers to its owner, `productId` to a product. */
function exampleId(schema: GraphQLSchema, name: string, owner: string): string {
  const isOwn = /^ids?$/.test(name);
  const matches = (type: string) =>
    isOwn ? new RegExp(`^${type}(?!s)`).test(owner) : new RegExp(`${type}Ids?$`).test(capitalize(name));
  const type = objectTypes(schema).find(matches);
  return type === undefined ? "gid://service/…" : (values.objects[type] ?? firstId(type));
}

const scalarValues: Record<string, unknown> = {
  String: "…",
  Int: 1,
  Float: 9.99,
  Boolean: true,
  DateTime: "2026-07-01T08:00:00Z",
  Date: "2026-07-01",
  BigInt: "1",
  Decimal: "9.99",
};

/** Returns a value for an argument of a field with the type `owner`, or for a field of the input `owner`. */
function exampleValue(schema: GraphQLSchema, type: GraphQLInputType, name: string, owner: string): unknown {
  const bare = getNullableType(type);
  if (isListType(bare)) return [exampleValue(schema, bare.ofType, name, owner)];
  if (isEnumType(bare)) return bare.getValues()[0]?.name;
  if (isInputObjectType(bare)) return exampleInput(schema, bare);
  return bare.name === "ID" ? exampleId(schema, name, owner) : (scalarValues[bare.name] ?? "…");
}

/** Returns an input with the fields that have a value of their own and the required ones; the first one if there are none. */
function exampleInput(schema: GraphQLSchema, type: GraphQLInputObjectType): Record<string, unknown> {
  const fields = Object.values(type.getFields());
  const own = values.inputs[type.name] ?? {};
  const shown = fields.filter((field) => field.name in own || isRequiredInputField(field));
  const chosen = shown.length > 0 ? shown : fields.slice(0, 1);
  return Object.fromEntries(
    chosen.map(({ name, type: each }) => [name, own[name] ?? exampleValue(schema, each, name, type.name)]),
  );
}
