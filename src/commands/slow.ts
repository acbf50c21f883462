import type pg from "pg";
import type { Operation } from "../administration/pages/operations-section.ts";
import { withClient } from "../postgres/client.ts";
import { genericPlan } from "../plans/explain.ts";
import type { IndexAdvice } from "../plans/index-advice.ts";
import { indexAdvice, tryIndex } from "../plans/index-advice.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import type { StatementStatistics } from "../plans/statement-statistics.ts";
import { readStatistics } from "../plans/statement-statistics.ts";
import { UserError } from "../errors/user-error.ts";
import { readableSignature } from "../graphql/signature.ts";
import { say, table, UsageError } from "./terminal.ts";
import { asAdmin } from "./with-database.ts";

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
const printFigures = (rows: readonly (readonly string[])[]): string =>
  table(rows, (column) => column > 0 && column < rows[0]!.length - 1);

async function list(client: pg.Client, by: keyof typeof orders): Promise<string> {
  const { rows } = await client.query<Operation>(
    `select ${columns} order by ${orders[by]} desc, id limit ${listed}`,
  );
  if (rows.length === 0) return "No credential has sent an operation in the last 14 days.";
  const heads = ["operation", "requests", "total", "mean", "slowest", "credentials", "version and name"];
  const lines = rows.map((row) => [
    row.id,
    String(row.requests),
    milliseconds(row.ms),
    milliseconds(row.ms / row.requests),
    milliseconds(row.slowest_ms),
    String(row.tokens),
    `${row.version} ${row.name ?? ""}`.trim(),
  ]);
  return printFigures([heads, ...lines]);
}

function printStatistics(statistics: readonly StatementStatistics[]): string {
  const lines = statistics.map(({ calls, ms, slowestMs, rows, blocksRead }) => [
    String(calls),
    milliseconds(ms),
    milliseconds(slowestMs),
    String(rows),
    String(blocksRead),
    "",
  ]);
  return printFigures([["calls", "total", "slowest", "rows", "blocks read", ""], ...lines]);
}

async function describeAdvice(
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
  if (!operation) throw new UserError(`No credential has sent an operation ${id} in the last 14 days.`);
  const { version, name, document, statement } = operation;
  const { rows: senders } = await client.query<Sender>(
    `select c.name, sum(u.requests)::float8 as requests, sum(u.ms) as ms, max(u.day)::text as day
     from auth.operation_use u join auth.credential c on c.id = u.credential_id
     where u.operation_id = $1 group by c.id order by 3 desc`,
    [id],
  );
  const credentials = senders.map((one) => [
    one.name,
    String(one.requests),
    milliseconds(one.ms),
    `last on ${one.day}`,
  ]);
  const parts = [
    `${id} of ${version}${name === null ? "" : `, “${name}”`}\n\n${readableSignature(document)}`,
    `Credentials\n\n${printFigures([["credential", "requests", "total", ""], ...credentials])}`,
  ];
  const statistics = (await readStatistics(adminUrl))?.filter(({ operation: one }) => one === id) ?? [];
  if (statistics.length > 0) parts.push(`In Postgres (pg_stat_statements)\n\n${printStatistics(statistics)}`);
  if (statement === null) return [...parts, "Its slowest statement is too long to be kept."].join("\n\n");
  const { text } = await genericPlan(client, statement);
  const advice = await indexAdvice(client, statement);
  const indexes: string[] = [];
  for (const one of advice) indexes.push(await describeAdvice(client, statement, one, isToTry));
  const lack = indexes.length === 0 ? "None is missing." : indexes.join("\n");
  return [...parts, `Its slowest statement\n\n${statement}`, `Plan\n\n${text}`, `Indexes\n\n${lack}`].join(
    "\n\n",
  );
}

const missing =
  "pg_stat_statements tells nothing here, so only what the service has measured is shown. Add pg_stat_statements to " +
  "shared_preload_libraries, restart Postgres, run `create extension pg_stat_statements`, and use a DATABASE_URL whose role may read it (pg_read_all_stats).";

/** Prints the operation with an id, or without one the list of all. */
export function printSlow(
  id: string | undefined,
  { by = "total", try: isToTry = false }: { by?: keyof typeof orders; try?: boolean },
): Promise<void> {
  if (isToTry && id === undefined) throw new UsageError("--try takes an id of the list.");
  return asAdmin(async (adminUrl) => {
    const text = await withClient(urlAsOwner(adminUrl), (client) =>
      id === undefined ? list(client, by) : show(client, id, adminUrl, isToTry),
    );
    console.log(text);
    if ((await readStatistics(adminUrl)) === null) say(`\n${missing}`);
  });
}
