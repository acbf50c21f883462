import type pg from "pg";
import { withClient } from "../postgres/client.ts";
import { genericPlan } from "../plans/explain.ts";
import type { IndexAdvice } from "../plans/index-advice.ts";
import { indexAdvice, maxTriedBytes, tryIndex } from "../plans/index-advice.ts";
import { openAsAdmin } from "../migrations/open-database.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import type { StatementStatistics } from "../plans/statement-statistics.ts";
import { readStatistics } from "../plans/statement-statistics.ts";
import { UserError } from "../errors/user-error.ts";
import { readableSignature } from "../graphql/signature.ts";
import { readSettings } from "../process/settings.ts";
import { atTheCommandLine } from "./command-line.ts";
import { say, UsageError } from "./terminal.ts";

const usage = `Which operations take the database's time.

Usage: npm run db:slow [-- --by total|worst]
       npm run db:slow -- ID [--try]

Without an id it lists the operations of the last 14 days, by the time that their statements took in all, or by the
slowest. With one it shows the operation, its tokens, its statements, the plan, and indexes that would help.

  --try   plans with each index: with hypopg where that is installed, else by making it in a transaction that is
          undone. Until then nobody can write to the table. Tables of more than ${maxTriedBytes / 1e6} MB are left out.

Statements are counted by pg_stat_statements too, where that is installed and the role of DATABASE_URL may read it.
`;

interface Operation {
  id: string;
  version: string;
  name: string | null;
  document: string;
  statement: string | null;
  requests: number;
  ms: number;
  slowest_ms: number;
  tokens: number;
}

interface Sender {
  name: string;
  requests: number;
  ms: number;
  day: string;
}

const columns =
  "id, version, name, document, statement, requests::float8, ms, slowest_ms, tokens::float8 from auth.operation_overview";
const orders = { total: "ms", worst: "slowest_ms" } as const;
const listed = 30;

const milliseconds = (ms: number): string =>
  ms < 10 ? `${ms.toFixed(1)} ms` : ms < 10_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(0)} s`;

/** Lines of columns; all but the first and the last one are numbers. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const last = widths.length - 1;
  return rows
    .map((row) =>
      row
        .map((text, column) => {
          if (column === last) return text;
          return column === 0 ? text.padEnd(widths[column]!) : text.padStart(widths[column]!);
        })
        .join("  "),
    )
    .join("\n");
}

async function list(client: pg.Client, by: keyof typeof orders): Promise<string> {
  const { rows } = await client.query<Operation>(
    `select ${columns} order by ${orders[by]} desc, id limit ${listed}`,
  );
  if (rows.length === 0) return "No token has sent an operation in the last 14 days.";
  const heads = ["operation", "requests", "total", "mean", "slowest", "tokens", "version and name"];
  const lines = rows.map((row) => [
    ...[row.id, String(row.requests), milliseconds(row.ms), milliseconds(row.ms / row.requests)],
    ...[milliseconds(row.slowest_ms), String(row.tokens), `${row.version} ${row.name ?? ""}`.trim()],
  ]);
  return table([heads, ...lines]);
}

function ofPostgres(statistics: readonly StatementStatistics[]): string {
  const lines = statistics.map(({ calls, ms, slowestMs, rows, blocksRead }) => [
    ...[String(calls), milliseconds(ms), milliseconds(slowestMs), String(rows), String(blocksRead), ""],
  ]);
  return table([["calls", "total", "slowest", "rows", "blocks read", ""], ...lines]);
}

async function adviceOn(
  client: pg.Client,
  statement: string,
  advice: IndexAdvice,
  isToTry: boolean,
): Promise<string> {
  const size = `${Math.round(advice.rows)} rows`;
  if (!advice.helps)
    return `No index on ${advice.table} (${advice.columns.join(", ")}) would help: the comparison isn't leakproof, so policies come first.`;
  if (!isToTry) return `${advice.ddl} -- ${size}`;
  const trial = await tryIndex(client, statement, advice);
  if (trial === null) return `${advice.ddl} -- ${size}: too large to try`;
  const { before, after } = trial;
  const what = after < before ? `the cost falls from ${before} to ${after}` : "Postgres would not use it now";
  return `${advice.ddl} -- ${size}; ${what}`;
}

async function show(client: pg.Client, id: string, adminUrl: string, isToTry: boolean): Promise<string> {
  const { rows } = await client.query<Operation>(`select ${columns} where id = $1`, [id]);
  const [operation] = rows;
  if (!operation) throw new UserError(`No token has sent an operation ${id} in the last 14 days.`);
  const { version, name, document, statement } = operation;
  const { rows: senders } = await client.query<Sender>(
    `select c.name, sum(u.requests)::float8 as requests, sum(u.ms) as ms, max(u.day)::text as day
     from auth.operation_use u join auth.credential c on c.id = u.credential_id
     where u.operation_id = $1 group by c.id order by 3 desc`,
    [id],
  );
  const tokens = senders.map((one) => [
    one.name,
    String(one.requests),
    milliseconds(one.ms),
    `last on ${one.day}`,
  ]);
  const parts = [
    `${id} of ${version}${name === null ? "" : `, “${name}”`}\n\n${readableSignature(document)}`,
    `Tokens\n\n${table([["token", "requests", "total", ""], ...tokens])}`,
  ];
  const statistics = (await readStatistics(adminUrl))?.filter(({ operation: one }) => one === id) ?? [];
  if (statistics.length > 0) parts.push(`In Postgres (pg_stat_statements)\n\n${ofPostgres(statistics)}`);
  if (statement === null) return [...parts, "Its slowest statement is too long to be kept."].join("\n\n");
  const { text } = await genericPlan(client, statement);
  const advice = await indexAdvice(client, statement);
  const indexes: string[] = [];
  for (const one of advice) indexes.push(await adviceOn(client, statement, one, isToTry));
  const lack = indexes.length === 0 ? "None is missing." : indexes.join("\n");
  return [...parts, `Its slowest statement\n\n${statement}`, `Plan\n\n${text}`, `Indexes\n\n${lack}`].join(
    "\n\n",
  );
}

const missing =
  "pg_stat_statements tells nothing here, so only what the service has measured is shown. Add pg_stat_statements to " +
  "shared_preload_libraries, restart Postgres, run `create extension pg_stat_statements`, and use a DATABASE_URL whose role may read it (pg_read_all_stats).";

const options = { by: { type: "string" }, try: { type: "boolean" } } as const;

await atTheCommandLine(
  { usage, options, arguments: 1 },
  async ({ by = "total", try: isToTry = false }, [id]) => {
    if (by !== "total" && by !== "worst") throw new UsageError("--by takes total or worst.");
    if (isToTry && id === undefined) throw new UsageError("--try takes an id of the list.");
    const { url, close } = await openAsAdmin(readSettings());
    try {
      const text = await withClient(urlAsOwner(url), (client) =>
        id === undefined ? list(client, by) : show(client, id, url, isToTry),
      );
      console.log(text);
      if ((await readStatistics(url)) === null) say(`\n${missing}`);
    } finally {
      await close();
    }
  },
);
