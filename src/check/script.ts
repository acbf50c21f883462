import { join } from "node:path";
import type { Node } from "libpg-query";
import { hasSqlDetails, loadModule, parseSync } from "libpg-query";
import type { CurrentFile } from "../database/migrations/migration-files.ts";
import { withIncludes } from "../database/migrations/migration-files.ts";
import type { Finding, Place } from "./finding.ts";

/** A statement of a migration. */
export interface Statement {
  /** Postgres' parse tree. */
  node: Node;
  text: string;
  /** The comments before it. */
  comments: string;
  place: Place;
}

/** A migration, or a file of one, that is checked before it runs. */
export interface Script {
  file: string;
  text: string;
  statements: Statement[];
  /** The error when Postgres couldn't parse it. */
  fault?: Finding;
}

/** A file of db/current with its fixtures included. */
export async function readScript({ name, text }: CurrentFile): Promise<Script> {
  return parsed(join("db/current", name), await withIncludes(text));
}

/** Splits a migration into statements. */
export async function parsed(file: string, text: string): Promise<Script> {
  await loadModule();
  const origins = originsOf(text, file);
  try {
    return { file, text, statements: statementsOf(text, origins) };
  } catch (error) {
    if (!hasSqlDetails(error)) throw error;
    const { message, cursorPosition = 0 } = error.sqlDetails!;
    const place = origins[text.slice(0, cursorPosition).split("\n").length - 1]!;
    return { file, text, statements: [], fault: syntaxFault(place, message) };
  }
}

const syntaxFault = (place: Place, message: string): Finding => ({
  ...{ rule: "syntax", severity: "error", ...place, object: null, what: message },
  why: "Postgres can't read the file, so nothing of it can run.",
  wayOut: "Mend the statement.",
});

function statementsOf(text: string, origins: readonly Place[]): Statement[] {
  const bytes = Buffer.from(text);
  const { stmts = [] } = parseSync(text);
  let end = 0;
  let line = 0;
  return stmts.map(({ stmt, stmt_location: from = 0, stmt_len: length = bytes.length - from }) => {
    const before = bytes.toString("utf8", end, from);
    const own = bytes.toString("utf8", from, from + length);
    const begun = /^(\s|--[^\n]*\n)*/.exec(own)![0];
    line += linesIn(before) + linesIn(begun);
    const place = origins[line]!;
    line += linesIn(own) - linesIn(begun);
    end = from + length;
    return { node: stmt as Node, text: own.slice(begun.length), comments: before + begun, place };
  });
}

const linesIn = (text: string): number => text.split("\n").length - 1;

/** For each line of a migration, the file that it was included from, and the line there. */
export function originsOf(text: string, file: string): Place[] {
  const open: Place[] = [{ file, line: 0 }];
  const here = () => ({ ...open.at(-1)! });
  return text.split("\n").map((line) => {
    const [, included] = /^--! Included (.+)$/.exec(line) ?? [];
    if (line.startsWith("--! EndIncluded ") && open.length > 1) open.pop();
    else open.at(-1)!.line++;
    const place = here();
    if (included !== undefined) open.push({ file: `db/fixtures/${included}`, line: 0 });
    return place;
  });
}
