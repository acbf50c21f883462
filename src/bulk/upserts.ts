import type {} from "postgraphile";
import type { GraphQLField, GraphQLInputObjectType, GraphQLSchema } from "postgraphile/graphql";
import { coerceInputValue, getNamedType } from "postgraphile/graphql";
import { findExcess } from "../lib/json-size.ts";
import { makeLoopPause } from "../lib/loop-share.ts";
import { memoizeByObject } from "../lib/remembered.ts";
import { isApiError } from "../errors/api-error.ts";
import type { MutationSource } from "../mutations/source.ts";
import { serializeInput } from "../mutations/run.ts";
import type { FileRow } from "./chunks.ts";

/** An error of a row that can't be parsed, in the form of a user error. */
export interface Fault {
  line: number;
  code: string;
  message: string;
  field: string[];
}

/** Rows in the form that `bulk.import_chunk` takes. */
export interface ReadRows {
  /** A JSON list of rows, whose fields have the names of columns. */
  json: string;
  /** The line number of each row. */
  lines: number[];
  faults: Fault[];
}

/** The upsert that imports the rows of a resource. */
export interface Upsert extends Pick<MutationSource, "version" | "operation"> {
  /** The scope that it needs. */
  scope: string;
  /** The type of a row. */
  rowType: GraphQLInputObjectType;
  read(rows: readonly FileRow[]): Promise<ReadRows>;
}

/** Returns the upserts of a schema by the resources that they write, such as `sales_channels`. */
const upsertsOf = memoizeByObject<GraphQLSchema, Map<string, Upsert>>((schema) => {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  const upserts = fields.filter(({ name }) => name.endsWith("Upsert")).map(makeUpsert);
  return new Map(upserts.map((upsert) => [upsert.operation.replace(/_upsert$/, ""), upsert]));
});

/** Returns the upsert of a resource in a schema; undefined if there is none. */
export const findUpsert = (schema: GraphQLSchema, resource: string): Upsert | undefined =>
  upsertsOf(schema).get(resource);

function makeUpsert(field: GraphQLField<unknown, unknown>): Upsert {
  const source = field.extensions.mutation!;
  const input = getNamedType(field.args[0]!.type) as GraphQLInputObjectType;
  const list = field.name.replace(/Upsert$/, "");
  const rowType = getNamedType(input.getFields()[list]!.type) as GraphQLInputObjectType;
  const encode = (row: unknown): string => {
    const [rows] = Object.values(source.encode({ [list]: [row] }) as Record<string, unknown[]>);
    return serializeInput(rows![0]);
  };
  const { version, operation } = source;
  const scope = field.extensions.requiresScopes!.anyOf![0]!;
  return { version, operation, scope, rowType, read: (rows) => readRows(rows, rowType, encode) };
}

async function readRows(
  rows: readonly FileRow[],
  rowType: GraphQLInputObjectType,
  encode: (row: unknown) => string,
): Promise<ReadRows> {
  const othersTurn = makeLoopPause();
  const texts: string[] = [];
  const lines: number[] = [];
  const faults: Fault[] = [];
  for (const { line, text } of rows) {
    const found: Fault[] = [];
    const fault = (message: string, field: string[] = []) =>
      void found.push({ line, code: "INVALID", message, field });
    const encoded = readRow(text, rowType, encode, fault);
    if (found.length === 0) {
      texts.push(encoded!);
      lines.push(line);
    } else faults.push(...found.slice(0, maxFaults));
    await othersTurn();
  }
  return { json: `[${texts.join()}]`, lines, faults };
}

/** Most faults reported for a row. */
const maxFaults = 20;

/** The null character, which Postgres can't store, as `JSON.stringify` writes it. */
const nullCharacter = /(?<!\\)(?:\\\\)*\\u0000/;

/** Coerces a row to its type; null if it has faults. Stops after some: each unknown field makes a slow search for similar names. */
function coerceRow(
  row: unknown,
  rowType: GraphQLInputObjectType,
  fault: (message: string, field?: string[]) => void,
): unknown {
  const enough = new Error();
  let count = 0;
  try {
    const coerced = coerceInputValue(row, rowType, (path, _value, { message }) => {
      fault(message, path.map(String));
      if (++count === maxFaults) throw enough;
    });
    return count === 0 ? coerced : null;
  } catch (error) {
    if (error !== enough) throw error;
    return null;
  }
}

function readRow(
  text: string,
  rowType: GraphQLInputObjectType,
  encode: (row: unknown) => string,
  fault: (message: string, field?: string[]) => void,
): string | null {
  let row: unknown;
  try {
    const excess = findExcess(text);
    if (excess !== null) {
      fault(`The line has ${excess}.`);
      return null;
    }
    row = JSON.parse(text);
  } catch {
    fault("The line is not valid JSON.");
    return null;
  }
  const coerced = coerceRow(row, rowType, fault);
  if (coerced === null) return null;
  try {
    const encoded = encode(coerced);
    if (nullCharacter.test(encoded)) fault("A text contains a null character.");
    return encoded;
  } catch (error) {
    if (!isApiError(error)) throw error;
    fault(error.message);
    return null;
  }
}
