import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type pg from "pg";
import { connect } from "../postgres/client.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import { forPsql } from "./graphile-migrate/urls.ts";
import { say } from "./terminal.ts";
import { asAdmin } from "./with-database.ts";

const listing = `select n.nspname as schema, c.relname as name, case c.relkind when 'v' then 'view' else 'table' end as kind
  from pg_class c join api_meta.own_schema n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v') order by 1, 2`;
const describing = `select a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
    case when a.attnotnull then 'not null' else '' end as null, coalesce(col_description(a.attrelid, a.attnum), '') as comment
  from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`;

/** @returns the exit code; null when there is no psql */
async function runInstalledPsql(url: string, text: string | undefined): Promise<number | null> {
  const words = text === undefined ? [] : ["-c", text];
  // The arguments of a process can be seen by all users of the machine, its environment can't
  const place = new URL(forPsql(url));
  const password = decodeURIComponent(place.password);
  place.password = "";
  const env = { ...process.env, ...(password !== "" && { PGPASSWORD: password }) };
  const child = spawn("psql", [place.href, ...words], { stdio: "inherit", env });
  // Ctrl-C is for psql
  const ignore = () => {};
  process.on("SIGINT", ignore);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code ?? 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  } finally {
    process.off("SIGINT", ignore);
  }
}

/** Runs statements of the terminal, or of standard input. @returns the exit code */
async function runSmallPsql(url: string, text: string | undefined): Promise<number> {
  const client = await connect(url);
  try {
    if (text !== undefined) return (await run(client, text)) ? 0 : 1;
    return await converse(client);
  } finally {
    await client.end();
  }
}

async function converse(client: pg.Client): Promise<number> {
  const isPerson = process.stdin.isTTY;
  const lines = createInterface({ input: process.stdin, output: isPerson ? process.stdout : undefined });
  const prompt = (isWithin: boolean) => {
    lines.setPrompt(isWithin ? "... " : "=> ");
    if (isPerson) lines.prompt();
  };
  let [begun, code] = ["", 0];
  prompt(false);
  for await (const line of lines) {
    if (line.trim() === "\\q") break;
    begun += `${line}\n`;
    if (/;\s*$/.test(begun) || line.startsWith("\\d")) {
      if (!(await run(client, begun))) code = 1;
      begun = "";
    }
    prompt(begun.trim() !== "");
  }
  if (begun.trim() !== "" && !(await run(client, begun))) code = 1;
  lines.close();
  return code;
}

/** @returns whether it worked */
async function run(client: pg.Client, text: string): Promise<boolean> {
  const [, name] = /^\\d\s*(\S*)/.exec(text) ?? [];
  try {
    const found: unknown = await (name === undefined
      ? client.query(text)
      : name === ""
        ? client.query(listing)
        : client.query(describing, [name]));
    for (const result of [found].flat()) console.log(printed(result as Result));
    return true;
  } catch (error) {
    const { message, detail, hint } = error as pg.DatabaseError;
    say(["ERROR:  " + message, detail, hint].filter(Boolean).join("\n"));
    return false;
  }
}

type Result = pg.QueryResult<Record<string, unknown>>;

function printed({ fields, rows, command, rowCount }: Result): string {
  if (fields.length === 0) return [command, rowCount].filter((word) => word !== null).join(" ");
  const cells = rows.map((row) => fields.map(({ name }) => textOf(row[name])));
  const names = fields.map(({ name }) => name);
  const widths = names.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join(" | ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("-+-");
  return [line(names), rule, ...cells.map(line), `(${rows.length} row${rows.length === 1 ? "" : "s"})`].join(
    "\n",
  );
}

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
};

/** Opens psql as the owner of the tables, or runs one statement. */
export const openPsql = ({ command }: { command?: string }): Promise<void> =>
  asAdmin(async (adminUrl) => {
    const owner = urlAsOwner(adminUrl);
    process.exitCode = (await runInstalledPsql(owner, command)) ?? (await runSmallPsql(owner, command));
  });
