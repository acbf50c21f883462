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
import { textOfCell } from "./formulas.ts";
import { maxRowBytes } from "./json-lines.ts";
import { RefusedFile } from "./refused-file.ts";

/** A column of a file: the path to its field in a row, and how its texts become values. */
interface Column {
  path: readonly (string | number)[];
  read: (text: string) => unknown;
}

/** A record of csv-parse with the option `info`. */
interface Record {
  record: string[];
  info: { lines: number };
}

/**
 * Reads the rows of a CSV file in UTF-8 as JSON. The first line names the field of each column, as the GraphQL input
 * does; paths with dots lead into objects and lists: `price.0.net`. An empty cell omits its field. Apostrophes that
 * exports put before formulas are removed.
 *
 * @throws {RefusedFile} when a column names no field, or the file is not CSV
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
    // A line is refused on its own when it has another number of cells
    relax_column_count: true,
  });
  source.on("error", (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<Record>) {
      if (columns === undefined) columns = columnsOf(record, rowType);
      else if (record.some((cell) => cell !== ""))
        yield [{ line: info.lines, text: JSON.stringify(rowOf(record, columns)) }];
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new RefusedFile(400, `The file is no CSV: ${error.message}`);
  } finally {
    source.destroy();
  }
}

/** An object, or a text that tells what is wrong with the line: a row that is no object is refused. */
function rowOf(record: readonly string[], columns: readonly (Column | null)[]): unknown {
  if (record.length > columns.length) return `${record.length} cells, and ${columns.length} columns`;
  const row = emptyTree();
  record.forEach((cell, index) => {
    const column = columns[index];
    if (cell !== "" && column) put(row, column.path, column.read(textOfCell(cell)));
  });
  return withoutHoles(row);
}

/** An object or a list, of which some places aren't filled yet. */
type Tree = { [key: string | number]: unknown };

/** Without the properties that all objects inherit: any key may come. */
const emptyTree = (): Tree => Object.create(null) as Tree;

function put(tree: Tree, path: readonly (string | number)[], value: unknown): void {
  let here = tree;
  path.slice(0, -1).forEach((part, index) => {
    here = (here[part] ??= typeof path[index + 1] === "number" ? [] : emptyTree()) as Tree;
  });
  here[path.at(-1)!] = value;
}

/** Lists without the elements of which all cells are empty. */
function withoutHoles(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => each !== undefined).map(withoutHoles);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutHoles(inner)]));
}

function columnsOf(names: readonly string[], rowType: GraphQLInputObjectType): (Column | null)[] {
  const seen = new Set<string>();
  return names.map((given) => {
    const name = given.trim();
    if (name === "") return null;
    if (seen.has(name)) throw new RefusedFile(400, `Two columns are called “${name}”.`);
    seen.add(name);
    return columnOf(name, rowType);
  });
}

/** Elements of a list that columns can name. */
const maxElements = 250;

function columnOf(name: string, rowType: GraphQLInputObjectType): Column {
  const unknown = () => new RefusedFile(400, `There is no field for the column “${name}”.`);
  const path: (string | number)[] = [];
  // Null within a JSON value, where everything is text
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
  if (leaf && isInputObjectType(getNamedType(leaf))) throw unknown();
  return { path, read: leaf === null ? asText : readerOf(leaf) };
}

const isJson = (type: GraphQLInputType): boolean => isScalarType(type) && type.name === "JSON";
const asText = (text: string): unknown => text;

/** How a text becomes a value of a type. What isn't one stays text, to be refused with its row. */
function readerOf(type: GraphQLInputType): (text: string) => unknown {
  if (isListType(type)) {
    // Several in one cell: tags
    const read = readerOf(getNullableType(type.ofType));
    const parts = (text: string) => text.split(";").map((each) => each.trim());
    return (text) => parts(text).filter(Boolean).map(read);
  }
  if (type === GraphQLInt || type === GraphQLFloat) return numberOf;
  if (type === GraphQLBoolean) return (text) => ({ true: true, false: false })[text.toLowerCase()] ?? text;
  return isJson(type) ? jsonOf : asText;
}

const numberOf = (text: string): unknown => (/^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
