import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { Node } from "libpg-query";
import type { CurrentFile, Place } from "../migrations/migration-files.ts";
import { isWithoutTransaction, listOrigins, includeFixtures } from "../migrations/migration-files.ts";
import { loadParser } from "../postgres/parser.ts";
import type { Parser } from "../postgres/parser.ts";
import type { Finding } from "./finding.ts";

/** A statement of a migration. */
export interface Statement {
  /** Postgres' parse tree, then the parse trees of statements within `do`. */
  nodes: [Node, ...Node[]];
  text: string;
  /** The comments before it. */
  comments: string;
  place: Place;
}

/** A migration, or one file of it, to check before it runs. */
export interface Script {
  file: string;
  text: string;
  statements: Statement[];
  isInTransaction: boolean;
  /** The syntax error, if Postgres couldn't parse it. */
  fault?: Finding;
}

/** Reads a file of db/current with its fixtures included. */
export async function readScript({ name, text }: CurrentFile): Promise<Script> {
  return parseScript(join("db/current", name), await includeFixtures(text));
}

/**
 * Loads the parser without optimization. Optimizing it for a long migration would take other threads half a second and half
 * a gigabyte, to save a few milliseconds. A service that only explains queries never triggers it.
 */
function loadUnoptimized(): Promise<Parser> {
  for (const flag of ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);
  return loadParser();
}

/** Splits a migration into statements. @param origins the files that its lines are from */
export async function parseScript(
  file: string,
  text: string,
  origins: readonly Place[] = listOrigins(text, file),
): Promise<Script> {
  const parser = await loadUnoptimized();
  const isInTransaction = !isWithoutTransaction(text);
  try {
    return { file, text, isInTransaction, statements: splitStatements(parser, text, origins) };
  } catch (error) {
    if (!parser.hasSqlDetails(error)) throw error;
    const { message, cursorPosition } = error.sqlDetails!;
    const place = origins[text.slice(0, cursorPosition).split("\n").length - 1]!;
    return { file, text, isInTransaction, statements: [], fault: syntaxFault(place, message) };
  }
}

const syntaxFault = (place: Place, message: string): Finding => ({
  rule: "syntax",
  severity: "error",
  ...place,
  object: null,
  what: message,
  why: "Postgres can't read the file, so nothing of it can run.",
  remedy: "Mend the statement.",
});

function splitStatements(parser: Parser, text: string, origins: readonly Place[]): Statement[] {
  const bytes = Buffer.from(text);
  const { stmts = [] } = parser.parseSync(text);
  let end = 0;
  let line = 0;
  return stmts.map(({ stmt, stmt_location: from = 0, stmt_len: length = bytes.length - from }) => {
    const before = bytes.toString("utf8", end, from);
    const own = bytes.toString("utf8", from, from + length);
    const begun = /^(\s|--[^\n]*\n)*/.exec(own)![0];
    line += countLines(before) + countLines(begun);
    const place = origins[line]!;
    line += countLines(own) - countLines(begun);
    end = from + length;
    const statement = own.slice(begun.length);
    return {
      nodes: listNodes(parser, stmt as Node, statement),
      text: statement,
      comments: before + begun,
      place,
    };
  });
}

/** Returns a statement, and the static statements within its `do` block. */
function listNodes(parser: Parser, node: Node, text: string): Statement["nodes"] {
  if (!("DoStmt" in node)) return [node];
  try {
    const queries = listSqlStatements(parser.parsePlPgSQLSync(text));
    return [
      node,
      ...queries.flatMap((query) => parser.parseSync(query).stmts?.map(({ stmt }) => stmt as Node) ?? []),
    ];
  } catch {
    // Not in PL/pgSQL
    return [node];
  }
}

function listSqlStatements(tree: unknown): string[] {
  if (typeof tree !== "object" || tree === null) return [];
  const { PLpgSQL_stmt_execsql: own, ...rest } = tree as {
    PLpgSQL_stmt_execsql?: { sqlstmt: { PLpgSQL_expr: { query: string } } };
  };
  return [
    ...(own ? [own.sqlstmt.PLpgSQL_expr.query] : []),
    ...Object.values(rest).flatMap(listSqlStatements),
  ];
}

const countLines = (text: string): number => text.split("\n").length - 1;

/** Returns the lines of a file as places, regardless of what was included into it. */
export const listPlaces = (text: string, file: string): Place[] =>
  text.split("\n").map((_, index) => ({ file, line: index + 1 }));
