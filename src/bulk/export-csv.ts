import type { GraphQLObjectType, GraphQLSchema } from "postgraphile/graphql";
import { getNamedType, getNullableType, isListType, isObjectType, parse } from "postgraphile/graphql";
import { findOperation } from "../graphql/operation.ts";
import type { ReadableOperation, SelectedField } from "../reads/operation.ts";
import { selectedFields } from "../reads/operation.ts";
import { isConnection } from "./export-query.ts";
import { cellOf } from "./formulas.ts";
import type { Line } from "./export-lines.ts";

/** Writes lines as CSV: a column for each field, by its path. Rows of lists within the list have columns of their own. */
export interface CsvWriter {
  header: string;
  lineOf(line: Line): string;
}

type Variables = Record<string, unknown>;

/**
 * A writer for the rows of a valid query of one list.
 *
 * @param isRaw whether texts stay as they are, also those that a spreadsheet takes for formulas
 */
export function csvWriter(
  schema: GraphQLSchema,
  source: string,
  variables: Variables,
  isRaw: boolean,
): CsvWriter {
  const { operation: definition, fragments } = findOperation(parse(source), null);
  const operation = { schema, definition: definition!, fragments };
  const query = schema.getQueryType()!;
  const [[, root]] = selectedFields(operation, query, [definition!.selectionSet], variables) as unknown as [
    [string, SelectedField],
  ];
  const columns = [
    ...new Set(
      columnsWithin(operation, variables, query.getFields()[root.name]!.type as GraphQLObjectType, root, ""),
    ),
  ];
  if (columns.filter((name) => /(^|\.)id$/.test(name)).length > 1) columns.push("__parentId");
  const places = new Map(columns.map((name, index) => [name, index]));
  return {
    header: rowOf(columns),
    lineOf({ values, path }) {
      const cells: string[] = Array.from({ length: columns.length }, () => "");
      const prefix = path.map((part) => `${part}.`).join("");
      const fill = (object: Variables, before: string) => {
        for (const [key, value] of Object.entries(object)) {
          if (
            typeof value === "object" &&
            value !== null &&
            !Array.isArray(value) &&
            !places.has(before + key)
          )
            fill(value as Variables, `${before}${key}.`);
          else {
            const place = places.get(key === "__parentId" ? key : before + key);
            if (place !== undefined) cells[place] = isRaw ? textOf(value) : cellOf(textOf(value));
          }
        }
      };
      fill(values, prefix);
      return rowOf(cells);
    },
  };
}

/** The columns of the rows of a connection, and of lists within them. */
function columnsWithin(
  operation: ReadableOperation,
  variables: Variables,
  connection: GraphQLObjectType,
  selected: SelectedField,
  prefix: string,
): string[] {
  const select = (type: GraphQLObjectType, below: SelectedField["below"]) =>
    selectedFields(operation, type, below, variables);
  const page = getNamedType(connection) as GraphQLObjectType;
  const edges = [...select(page, selected.below).values()].find(({ name }) => name === "edges");
  if (!edges) return [];
  const edge = getNamedType(page.getFields().edges!.type) as GraphQLObjectType;
  const node = [...select(edge, edges.below).values()].find(({ name }) => name === "node");
  if (!node) return [];
  const ofObject = (type: GraphQLObjectType, below: SelectedField["below"], before: string): string[] =>
    [...select(type, below)].flatMap(([key, part]) => {
      if (part.name === "__typename") return [before + key];
      const { type: fieldType } = type.getFields()[part.name]!;
      const named = getNamedType(fieldType);
      if (isConnection(fieldType))
        return columnsWithin(operation, variables, named as GraphQLObjectType, part, `${before}${key}.`);
      if (isObjectType(named) && !isListType(getNullableType(fieldType)))
        return ofObject(named, part.below, `${before}${key}.`);
      return [before + key];
    });
  const type = getNamedType(edge.getFields().node!.type) as GraphQLObjectType;
  return [`${prefix}id`, ...ofObject(type, node.below, prefix)];
}

const textOf = (value: unknown): string => {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
};

const rowOf = (cells: readonly string[]): string =>
  cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",");
