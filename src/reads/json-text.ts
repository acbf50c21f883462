import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";

/** A piece of JSON text that SQL puts together: always the same, or the value of an SQL expression of type text. */
export type Piece = { readonly json: string } | { readonly sql: string };

export const json = (text: string): Piece => ({ json: text });
export const expression = (sql: string): Piece => ({ sql });

/** A text as an SQL constant. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name as an SQL identifier. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The SQL expression that concatenates pieces. */
export function concatenated(pieces: readonly Piece[]): string {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (last && "json" in last && "json" in piece) merged[merged.length - 1] = json(last.json + piece.json);
    else merged.push(piece);
  }
  return tree(merged.map((piece) => ("json" in piece ? quoted(piece.json) : piece.sql)));
}

/** As a balanced tree: it is not deep for any number of pieces, and long texts are copied less often. */
function tree(terms: readonly string[]): string {
  if (terms.length <= 2) return terms.length === 0 ? "''" : terms.join("||");
  const middle = terms.length >> 1;
  return `(${tree(terms.slice(0, middle))})||(${tree(terms.slice(middle))})`;
}

/** The pieces of a JSON object. */
export function objectPieces(fields: readonly (readonly [name: string, value: Piece[]])[]): Piece[] {
  const pieces = fields.flatMap(([name, value], index) => [
    json(`${index === 0 ? "{" : ","}${JSON.stringify(name)}:`),
    ...value,
  ]);
  return fields.length === 0 ? [json("{}")] : [...pieces, json("}")];
}

/**
 * An expression that fails when it is evaluated. It replaces a value that JSON or the schema don't allow, so that
 * Grafast, which then runs the operation, reports the error.
 */
export const failure = "('!'||now()::text)::json::text";

/** The text of an SQL fragment without values. */
export const textOfSql = (fragment: SQL): string => sql.compile(fragment).text;

/** The text of an SQL fragment whose values are constants of ours. */
export function textWithConstants(fragment: SQL): string {
  const { text, values } = sql.compile(fragment);
  return text.replace(/\$(\d+)/g, (_match, number: string) => quoted(String(values[Number(number) - 1])));
}
