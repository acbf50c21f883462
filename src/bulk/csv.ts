import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import type { GraphQLInputFieldMap, GraphQLInputObjectType, GraphQLInputType } from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLInt,
  isInputObjectType,
  isListType,
  isScalarType,
} from "postgraphile/graphql";
import type { FileRow } from "./chunks.ts";
import { fromCell } from "../lib/csv-cells.ts";
import { maxRowBytes } from "./json-lines.ts";
import { RefusedFile } from "./refused-file.ts";

/** A column of a file: the path to its field in a row, and a function that converts its texts to values. */
interface Column {
  path: readonly (string | number)[];
  read: (text: string) => unknown;
}

/** A record as csv-parse returns it with the option `info`. */
interface Record {
  record: string[];
  info: { lines: number };
}

/**
 * Reads the rows of a CSV file in UTF-8 as JSON. The first line has a field of the GraphQL input for each column. Fields within
 * objects and lists are paths with dots: `price.0.net`; a list may also be JSON in one cell. An empty cell leaves its field
 * out. Apostrophes that exports put before formulas are removed.
 *
 * @throws {RefusedFile} if a column names no field, or the file is not valid CSV
 */
export async function* csvRows(
  bytes: AsyncIterable<Buffer>,
  rowType: GraphQLInputObjectType,
): AsyncGenerator<FileRow[]> {
  let columns: (Column | null)[] | undefined;
  const source = Readable.from(bytes, { objectMode: false });
  const parser = parse({
    bom: true,
    info: true,
    skip_empty_lines: true,
    max_record_size: maxRowBytes,
    // A line with a wrong number of cells doesn't refuse the whole file
    relax_column_count: true,
  });
  source.on("error", (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<Record>) {
      if (columns === undefined) columns = parseColumns(record, rowType);
      else if (record.some((cell) => cell !== ""))
        yield [{ line: info.lines, text: JSON.stringify(parseRow(record, columns)) }];
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new RefusedFile(400, `The file is not valid CSV: ${error.message}`);
  } finally {
    source.destroy();
  }
}

/** Returns a row as an object, or a text if the line has too many cells. A row that isn't an object is refused later. */
function parseRow(record: readonly string[], columns: readonly (Column | null)[]): unknown {
  if (record.length > columns.length) return `${record.length} cells, and ${columns.length} columns`;
  const row = emptyTree();
  record.forEach((cell, index) => {
    const column = columns[index];
    if (cell !== "" && column) put(row, column.path, column.read(fromCell(cell)));
  });
  return removeHoles(row);
}

/** An object or a list that is being filled. */
type Tree = { [key: string | number]: unknown };

/** Makes an object without inherited properties, because any key may come. */
const emptyTree = (): Tree => Object.create(null) as Tree;

function put(tree: Tree, path: readonly (string | number)[], value: unknown): void {
  let here = tree;
  path.slice(0, -1).forEach((part, index) => {
    here = (here[part] ??= typeof path[index + 1] === "number" ? [] : emptyTree()) as Tree;
  });
  here[path.at(-1)!] = value;
}

/** Removes list elements whose cells are all empty. */
function removeHoles(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => each !== undefined).map(removeHoles);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, removeHoles(inner)]));
}

function parseColumns(names: readonly string[], rowType: GraphQLInputObjectType): (Column | null)[] {
  const seen = new Set<string>();
  return names.map((given) => {
    const name = given.trim();
    if (name === "") return null;
    if (seen.has(name)) throw new RefusedFile(400, `Two columns are called “${name}”.`);
    seen.add(name);
    return parseColumn(name, rowType);
  });
}

/** Most elements of a list that columns can name. */
const maxElements = 250;

function parseColumn(name: string, rowType: GraphQLInputObjectType): Column {
  const unknown = () => new RefusedFile(400, `There is no field for the column “${name}”.`);
  const path: (string | number)[] = [];
  // The type is null within a JSON value, where everything is text
  let type: GraphQLInputType | null = rowType;
  for (const part of name.split(".")) {
    const here: GraphQLInputType | null = type && getNullableType(type);
    const index = /^\d{1,3}$/.test(part) && Number(part) < maxElements ? Number(part) : null;
    if (here === null || isJson(here)) {
      if (part === "") throw unknown();
      type = null;
    } else if (isListType(here)) {
      if (index === null) throw unknown();
      type = here.ofType;
    } else {
      const fields: GraphQLInputFieldMap = isInputObjectType(here) ? here.getFields() : {};
      if (!Object.hasOwn(fields, part)) throw unknown();
      type = fields[part]!.type;
    }
    path.push(index ?? part);
  }
  const leaf = type && getNullableType(type);
  if (leaf && isInputObjectType(leaf)) throw unknown();
  return { path, read: leaf === null ? asText : makeReader(leaf) };
}

const isJson = (type: GraphQLInputType): boolean => isScalarType(type) && type.name === "JSON";
const asText = (text: string): unknown => text;

/** Returns a function that converts texts to values of a type. Invalid text stays text, and its row is refused later. */
function makeReader(type: GraphQLInputType): (text: string) => unknown {
  if (isListType(type)) {
    // Several values in one cell, such as tags; exports write them as JSON
    const element = getNullableType(type.ofType);
    if (isInputObjectType(getNamedType(element))) return parseJson;
    const read = makeReader(element);
    const parts = (text: string) => text.split(";").map((each) => each.trim());
    return (text) => {
      const json: unknown = text.startsWith("[") ? parseJson(text) : text;
      return Array.isArray(json) ? (json as unknown[]) : parts(text).filter(Boolean).map(read);
    };
  }
  if (type === GraphQLInt || type === GraphQLFloat) return parseNumber;
  if (type === GraphQLBoolean) return (text) => ({ true: true, false: false })[text.toLowerCase()] ?? text;
  return isJson(type) ? parseJson : asText;
}

const parseNumber = (text: string): unknown => (/^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
