import type { GraphQLField, GraphQLObjectType, GraphQLSchema } from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  GraphQLInputObjectType,
  isInputObjectType,
  isListType,
  isObjectType,
} from "postgraphile/graphql";
import { isConnection, nodeType } from "./schema-walk.ts";

/** An upsert: its resource, the type of its rows, and the type that shows them. */
export interface Upsert {
  resource: string;
  input: GraphQLInputObjectType;
  output: GraphQLObjectType;
}

/** Upserts that book: what they were told is read as movements and receipts, and not written again. */
const bookings = ["stocksUpsert", "goodsReceiptsUpsert"];

/** All upserts of a schema that say how something is to be. */
export function upserts(schema: GraphQLSchema): Upsert[] {
  const fields = Object.values(schema.getMutationType()!.getFields());
  return fields
    .filter(({ name }) => name.endsWith("Upsert") && !bookings.includes(name))
    .map((field) => {
      const resource = field.name.slice(0, -"Upsert".length);
      const input = getNamedType(field.args[0]!.type) as GraphQLInputObjectType;
      const payload = getNamedType(field.type) as GraphQLObjectType;
      return {
        resource,
        input: getNamedType(input.getFields()[resource]!.type) as GraphQLInputObjectType,
        output: getNamedType(payload.getFields()[resource]!.type) as GraphQLObjectType,
      };
    });
}

/** Fields of rows that are read otherwise than by their name, or by a key of a related object. */
const readOtherwise: Record<string, string> = {
  tags: "tags { edges { node { name } } }",
  price: "currencyPrices",
  purchasePrices: "currencyPurchasePrices",
  canonicalProductNumber: "canonicalProduct { productNumber }",
  registrationGroupTechnicalNames: "customerGroupsRegistrations { edges { node { technicalName } } }",
};

/** Fields of rows that no field shows, and why. */
export const unreadable: Record<string, string> = {
  id: "another shop has other ids",
};

/** Whether a field has an id that another field gives by a key, such as currencyId beside currencyIsoCode. */
function isIdBesideKey(name: string, input: GraphQLInputObjectType): boolean {
  const [, stem] = /^(.*?)Ids?$/.exec(name) ?? [];
  const isKey = (other: string) => other.startsWith(stem!) && !/Ids?$/.test(other);
  return stem !== undefined && Object.keys(input.getFields()).some(isKey);
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A related object with a key: `customer { customerNumber }` for customerNumber, or a list of them. */
function selectKey(name: string, output: GraphQLObjectType): string | undefined {
  for (const field of Object.values(output.getFields())) {
    const isMany = isConnection(field);
    const target = isMany ? nodeType(field) : getNamedType(field.type);
    if (!isObjectType(target) || isListType(getNullableType(field.type))) continue;
    const stem = isMany ? field.name.replace(/ies$/, "y").replace(/s$/, "") : field.name;
    const end = isMany ? "s" : "";
    for (const key of Object.keys(target.getFields()))
      if (name === `${stem}${upperFirst(key)}${end}` || (name === `${key}${end}` && key.startsWith(stem)))
        return isMany ? `${field.name} { edges { node { ${key} } } }` : `${field.name} { ${key} }`;
  }
  return undefined;
}

/**
 * Returns the selections that read a row of an upsert in the form in which the upsert takes it, and the fields that
 * nothing shows.
 */
export function selectRow(
  input: GraphQLInputObjectType,
  output: GraphQLObjectType,
  indent: string,
): { lines: string[]; missing: string[] } {
  const lines: string[] = [];
  const missing: string[] = [];
  for (const { name, type } of Object.values(input.getFields())) {
    if (name in unreadable || isIdBesideKey(name, input)) continue;
    const shown: GraphQLField<unknown, unknown> | undefined = output.getFields()[name];
    const other = readOtherwise[name];
    const [otherField] = other?.split(" ") ?? [];
    const key = selectKey(name, output);
    const target = shown && (isConnection(shown) ? nodeType(shown) : getNamedType(shown.type));
    const rowType = getNamedType(type);
    if (otherField !== undefined && otherField in output.getFields())
      lines.push(`${indent}${name}: ${other}`);
    else if (shown && isInputObjectType(rowType)) {
      const below = selectRow(rowType, target as GraphQLObjectType, `${indent}  `);
      const [open, close] = isConnection(shown) ? [" edges { node {", "} }"] : ["", ""];
      lines.push(`${indent}${name} {${open}`, ...below.lines, `${indent}}${close && ` ${close}`}`);
      missing.push(...below.missing);
    } else if (shown && !isObjectType(target)) lines.push(`${indent}${name}`);
    else if (key !== undefined) lines.push(`${indent}${name}: ${key}`);
    else missing.push(`${input.name}.${name}`);
  }
  return { lines, missing };
}

/** The query that exports all rows of a resource in the form in which its upsert takes them. */
export function exportQuery({ resource, input, output }: Upsert): string {
  const { lines } = selectRow(input, output, "  ");
  return `{ ${resource} { edges { node {\n${lines.join("\n")}\n} } } }\n`;
}
