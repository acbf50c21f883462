import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";

/** A piece of JSON text that SQL concatenates: a constant, or an SQL expression of type text. */
export type Piece = { readonly json: string } | { readonly sql: string };

export const jsonPiece = (text: string): Piece => ({ json: text });
export const sqlPiece = (sql: string): Piece => ({ sql });

/** Returns a text as an SQL constant. */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Returns a name as an SQL identifier. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Returns the SQL expression that concatenates pieces. */
export function concatenate(pieces: readonly Piece[]): string {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (last && "json" in last && "json" in piece)
      merged[merged.length - 1] = jsonPiece(last.json + piece.json);
    else merged.push(piece);
  }
  return concatenateAsTree(merged.map((piece) => ("json" in piece ? quoteLiteral(piece.json) : piece.sql)));
}

/** Concatenates as a balanced tree, which stays shallow for any number of pieces, and copies long texts less often. */
function concatenateAsTree(terms: readonly string[]): string {
  if (terms.length <= 2) return terms.length === 0 ? "''" : terms.join("||");
  const middle = terms.length >> 1;
  return `(${concatenateAsTree(terms.slice(0, middle))})||(${concatenateAsTree(terms.slice(middle))})`;
}

/** Returns the pieces of a JSON object. */
export function buildObjectPieces(fields: readonly (readonly [name: string, value: Piece[]])[]): Piece[] {
  const pieces = fields.flatMap(([name, value], index) => [
    jsonPiece(`${index === 0 ? "{" : ","}${JSON.stringify(name)}:`),
    ...value,
  ]);
  return fields.length === 0 ? [jsonPiece("{}")] : [...pieces, jsonPiece("}")];
}

/**
 * An expression that fails when it is evaluated. It replaces a value that JSON or the schema don't allow, so that
 * Grafast, which runs the operation afterwards, reports the error.
 */
export const failingSql = "('!'||now()::text)::json::text";

/** Returns the text of an SQL fragment without values. */
export const toSqlText = (fragment: SQL): string => sql.compile(fragment).text;

/** Returns the text of an SQL fragment whose values are constants from our code. */
export function toSqlTextWithConstants(fragment: SQL): string {
  const { text, values } = sql.compile(fragment);
  return text.replace(/\$(\d+)/g, (_match, number: string) =>
    quoteLiteral(String(values[Number(number) - 1])),
  );
}
