import type pg from "pg";
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { ApiClient } from "../src/commands/api-client.ts";
import type { BulkOperation } from "../src/commands/api-client.ts";
import { say } from "../src/commands/terminal.ts";
import { withClient } from "../src/postgres/client.ts";
import type { Cleanup } from "./cleanup.ts";
import { serviceContestant } from "./contestants/service.ts";
import { startContestant } from "./contestants/start.ts";
import { makeCredential } from "./data/token.ts";
import { postgresCpu } from "./measure/postgres-cpu.ts";
import type { BenchOptions } from "./options.ts";
import { beginExport } from "./queries/export.ts";
import type { BulkRun } from "./report/bulk.ts";
import { bulkFiles } from "./report/bulk.ts";
import { describeMachine } from "./report/machine.ts";
import { writeResults } from "./report/write.ts";
import { openCluster, openTestbed } from "./testbed.ts";

/** Rows of the imported files and of the exported list. */
const sizes = { full: { rows: 100_000, movements: 1_000_000 }, quick: { rows: 5_000, movements: 100_000 } };
/** Milliseconds between two measurements of memory. */
const lookEveryMs = 250;

const ids = `
  select (select 'gid://service/Currency/' || id from erp.currency where is_default_currency) as currency,
    (select 'gid://service/SalesChannel/' || id from erp.sales_channel limit 1) as channel`;

/** Adds copies of existing movements, without triggers, which would book each of them. */
async function addMovements(client: pg.Client, count: number): Promise<void> {
  const { rows } = await client.query<{ names: string; values: string }>(`
    select string_agg(name, ', ') as names,
      string_agg(case name when 'id' then 'uuidv7()' else 'm.' || name end, ', ') as values
    from (select quote_ident(attname) from pg_attribute
      where attrelid = 'ledger.stock_movement'::regclass and attnum > 0 and not attisdropped) a (name)`);
  const { names, values } = rows[0]!;
  await client.query("set session_replication_role = replica");
  await client.query(`
    insert into ledger.stock_movement (${names}) select ${values}
    from (select 1 + n % (select count(*) from ledger.stock_movement) from generate_series(1, ${count}) n) n (nth)
    join (select m.*, row_number() over () as nth from ledger.stock_movement m) m using (nth)`);
  await client.query("vacuum analyze ledger.stock_movement");
}

const movementsQuery =
  "{ stockMovements { edges { node { createdAt quantity comment processTypeTechnicalName product { productNumber } } } } }";

interface Names {
  currency: string;
  channel: string;
}

const product = (n: number, { currency }: Names) => ({
  productNumber: `BULK-${n}`,
  name: `Product ${n}`,
  description: "Made to be loaded, with a text of usual length that says what it is for.",
  taxRate: 19,
  price: [{ currencyId: currency, net: 10, gross: 11.9 }],
});
const order = (n: number, rows: number, { channel }: Names) => ({
  ...{ storefrontId: `bulk-${n}`, salesChannelId: channel, orderNumber: `BULK-${n}`, paymentState: "paid" },
  shippingAddress: {
    firstName: "Ada",
    lastName: "Lund",
    street: "Hafenweg 1",
    city: "Hamburg",
    countryIso: "DE",
  },
  lineItems: [0, 1, 2].map((line) => ({
    ...{ storefrontId: `l${line}`, productNumber: `BULK-${(3 * n + line) % rows}`, quantity: 1 + line },
    ...{ unitPrice: 11.9, taxRate: 19 },
  })),
});

/**
 * Measures the time of imports and of an export, and the service's memory meanwhile.
 *
 * @returns whether all rows were processed
 */
export async function bulk(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  const { rows, movements } = options.quick ? sizes.quick : sizes.full;
  const cluster = await openCluster(cleanup);
  const testbed = await openTestbed(cluster, 1);
  const copy = await testbed.database.copy();
  cleanup.add(() => copy.drop());
  const names = await withClient(copy.adminUrl, async (client) => {
    await addMovements(client, movements);
    return (await client.query<Names>(ids)).rows[0]!;
  });
  const child = await startContestant(serviceContestant, { ...testbed, database: copy });
  cleanup.add(() => child.stop());
  const { clientId, clientSecret } = await makeCredential(copy.ownerUrl);
  const client = new ApiClient({ API_URL: child.url, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret });
  const runs: BulkRun[] = [];
  const used = async () => ({
    ...(await child.usage()),
    postgres: (await postgresCpu(testbed.postmaster)) ?? NaN,
  });
  const note = async (name: string, begin: () => Promise<string>) => {
    const run = await measured(name, used, client, begin);
    say(`${name}: ${run.seconds.toFixed(1)} s, Postgres works ${run.postgresSeconds.toFixed(1)} s of it`);
    runs.push(run);
  };
  const loaded = (resource: string, row: (n: number) => object) =>
    note(resource, () => send(client, resource, rows, row));
  await loaded("products", (n) => product(n, names));
  await loaded("products", (n) => product(n, names));
  await loaded("orders", (n) => order(n, rows, names));
  await note("stockMovements", () => beginExport(client, movementsQuery));
  const machine = describeMachine(testbed.version);
  say(`Written: ${(await writeResults(bulkFiles({ runs, machine, options }))).join(", ")}`);
  return runs.every(({ refused, state }) => refused === 0 && state === "completed");
}

async function measured(
  name: string,
  used: () => Promise<{ memory: number; cpu: number; postgres: number }>,
  client: ApiClient,
  begin: () => Promise<string>,
): Promise<BulkRun> {
  const before = await used();
  let most = before.memory;
  const look = async () => {
    const now = await used();
    most = Math.max(most, now.memory);
    return now;
  };
  const timer = setInterval(() => void look(), lookEveryMs);
  try {
    const start = performance.now();
    const id = await begin();
    const sent = performance.now();
    const done: BulkOperation = await client.follow(id, () => {});
    const seconds = (performance.now() - start) / 1_000;
    const { doneCount, refusedCount: refused, state } = done;
    const after = await look();
    return {
      ...{ name, rows: doneCount, refused, state },
      seconds,
      postgresSeconds: (after.postgres - before.postgres) / 1e6,
      serviceSeconds: (after.cpu - before.cpu) / 1e6,
      sendSeconds: (sent - start) / 1_000,
      megabytes: most / 2 ** 20,
      megabytesBefore: before.memory / 2 ** 20,
    };
  } finally {
    clearInterval(timer);
  }
}

async function send(
  client: ApiClient,
  resource: string,
  rows: number,
  row: (n: number) => object,
): Promise<string> {
  const lines = function* () {
    for (let n = 0; n < rows; n++) yield `${JSON.stringify(row(n))}\n`;
  };
  const response = await client.sendAuthorized(`/api/bulk/${resource}`, {
    method: "POST",
    headers: { "content-type": "application/jsonl", "content-encoding": "gzip" },
    body: Readable.toWeb(Readable.from(lines()).pipe(createGzip({ level: 1 }))) as ReadableStream,
    ...{ duplex: "half" },
  });
  return ((await response.json()) as { bulkOperation: { id: string } }).bulkOperation.id;
}
