import pg from "pg";
import { UserError } from "../errors/user-error.ts";
import { isWithoutTransaction, listOrigins } from "./migration-files.ts";
import { loadParser } from "../postgres/parser.ts";
import { onMessage } from "../postgres/pg-private.ts";

/** How many statements of a text had been run when one failed, by the error. */
const statementsBefore = new WeakMap<Error, number>();

/** Runs a text of statements. {@link explainFailures} says which of them failed. */
export async function runStatements(client: pg.ClientBase, text: string): Promise<void> {
  let done = 0;
  const endCount = onMessage(client, "commandComplete", () => done++);
  try {
    await client.query(text);
  } catch (error) {
    statementsBefore.set(error as Error, done);
    throw error;
  } finally {
    endCount();
  }
}

/**
 * Runs a migration; explains why it failed: the file and line, if known, the message of Postgres, and what was being
 * derived.
 *
 * @param name of the migration
 * @param text what is run, with its fixtures in it
 */
export async function explainFailures<T>(name: string, text: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw await explainFailure(error as Error, name, text);
  }
}

async function explainFailure(error: Error, name: string, text: string): Promise<Error> {
  // To be asked to stop is no failure
  if (error instanceof UserError || error.name === "AbortError") return error;
  const rest = isWithoutTransaction(text)
    ? "it runs without a transaction, so look what is left of it"
    : "nothing of it was kept";
  const heading = `${name} failed, and ${rest}`;
  if (!(error instanceof pg.DatabaseError))
    return new UserError(`${heading}: ${error.message}`, { cause: error });
  const position =
    error.position === undefined
      ? await findStatementPosition(text, statementsBefore.get(error))
      : Number(error.position);
  const place = position === undefined ? null : describePlace(text, position);
  const lines = [
    [place, `${error.message} (${error.code})`].filter(Boolean).join(": "),
    error.detail,
    error.hint,
    // Errors of finish_migration name it in their detail
    error.detail === undefined ? innermostStatement(error.where) : undefined,
  ];
  const details = lines
    .filter((line) => line !== undefined)
    .map((line) => `  ${line.replaceAll("\n", "\n  ")}`);
  return new UserError(`${heading}:\n${details.join("\n")}`, { cause: error });
}

/** Returns the position at which a statement of a migration begins, counted from 1; undefined if unknown. */
async function findStatementPosition(text: string, index: number | undefined): Promise<number | undefined> {
  if (index === undefined) return undefined;
  const { parseSync } = await loadParser();
  try {
    // In bytes, and from the end of the statement before
    const from = parseSync(text).stmts?.[index]?.stmt_location ?? 0;
    const before = Buffer.from(text).toString("utf8", 0, from).length;
    return before + /^(\s|--[^\n]*(\n|$))*/.exec(text.slice(before))![0].length + 1;
  } catch {
    return undefined;
  }
}

/** The file and line at a position of a migration, counted from 1. */
function describePlace(text: string, position: number): string {
  const origins = listOrigins(text.slice(0, position), "");
  const { file, line } = origins.at(-1)!;
  const around = origins.findLast((one) => !one.file.startsWith("db/fixtures/"))?.file;
  const includes = around && around !== file ? `which ${around} includes` : "";
  return [file, `line ${line}`, includes].filter(Boolean).join(", ");
}

/** The statement at which a function failed. */
function innermostStatement(where: string | undefined): string | undefined {
  return where?.split("\n").slice(0, 2).join("\n").slice(0, 500);
}
