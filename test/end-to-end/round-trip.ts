import type { GraphQLObjectType, GraphQLSchema } from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  GraphQLInputObjectType,
  isInputObjectType,
  isLeafType,
  isListType,
} from "postgraphile/graphql";
import { isConnection, nodeType } from "./schema-walk.ts";

/** An upsert: its resource, the type of its rows, and the type that shows them. */
export interface Upsert {
  resource: string;
  input: GraphQLInputObjectType;
  output: GraphQLObjectType;
}

/** All upserts of a schema. */
export function upserts(schema: GraphQLSchema): Upsert[] {
  const names = Object.keys(schema.getMutationType()!.getFields());
  return names
    .filter((name) => name.endsWith("Upsert"))
    .map((name) => {
      const field = schema.getMutationType()!.getFields()[name]!;
      const resource = name.slice(0, -"Upsert".length);
      const input = getNamedType(field.args[0]!.type) as GraphQLInputObjectType;
      const payload = getNamedType(field.type) as GraphQLObjectType;
      return {
        resource,
        input: getNamedType(input.getFields()[resource]!.type) as GraphQLInputObjectType,
        output: getNamedType(payload.getFields()[resource]!.type) as GraphQLObjectType,
      };
    });
}

/** Fields of rows that are read from a field of another name, by all types of rows or by one. */
const otherNames: Record<string, string> = {
  tags: "tagNames",
  price: "currencyPrices",
  purchasePrices: "currencyPurchasePrices",
};

/** Fields of rows that no field shows, and why. */
export const unreadable: Record<string, string> = {
  id: "another shop has other ids",
  parentProductNumber: "parent shows it",
  productNumber: "of batches and lines of orders: product shows it",
  "OrderUpsertInput.shippingMethod": "ShippingMethod is not a type yet",
};

/** Whether a field has an id that another field gives by a key, such as currencyId beside currency. */
const isIdBesideKey = ({ name }: { name: string }, input: GraphQLInputObjectType): boolean =>
  name.endsWith("Id") && isInputObjectType(getNullableType(input.getFields()[name.slice(0, -2)]?.type));

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
  const shown = output.getFields();
  const add = (name: string, below: ReturnType<typeof selectRow>, isRows = false) => {
    const [open, close] = isRows ? ["edges { node {", "} }"] : ["", ""];
    lines.push(
      `${indent}${name} {${open && ` ${open}`}`,
      ...below.lines,
      `${indent}}${close && ` ${close}`}`,
    );
    missing.push(...below.missing);
  };
  for (const field of Object.values(input.getFields())) {
    const { name } = field;
    const isExcused = (name in unreadable || `${input.name}.${name}` in unreadable) && !(name in shown);
    if (name === "id" || isExcused || isIdBesideKey(field, input)) continue;
    const named = getNamedType(field.type);
    const other = otherNames[name];
    if (other !== undefined && other in shown) lines.push(`${indent}${name}: ${other}`);
    else if (!(name in shown)) missing.push(`${input.name}.${name}`);
    else if (!isInputObjectType(named)) {
      if (isLeafType(getNamedType(shown[name]!.type))) lines.push(`${indent}${name}`);
      else missing.push(`${input.name}.${name}`);
    } else {
      const isRows = isListType(getNullableType(field.type)) && isConnection(shown[name]!);
      const target = (isRows ? nodeType(shown[name]!) : getNamedType(shown[name]!.type)) as GraphQLObjectType;
      add(name, selectRow(named, target, `${indent}  `), isRows);
    }
  }
  return { lines, missing };
}

/** The query that exports all rows of a resource in the form in which its upsert takes them. */
export function exportQuery({ resource, input, output }: Upsert): string {
  const { lines } = selectRow(input, output, "  ");
  return `{ ${resource} { edges { node {\n${lines.join("\n")}\n} } } }\n`;
}
