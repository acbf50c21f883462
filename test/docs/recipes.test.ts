import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe, test } from "node:test";
import type { CheckOptions } from "../../src/check/check.ts";
import { check } from "../../src/check/check.ts";
import { dangerousDdl } from "../../src/check/ddl/ddl.ts";
import { lints } from "../../src/check/lints.ts";
import { readColumns } from "../../src/check/old-columns.ts";
import { withClient } from "../../src/postgres/client.ts";
import { runCurrentMigration } from "../../src/migrations/migrations.ts";
import { makeTasks } from "../../src/jobs/tasks.ts";
import { versionOf } from "../../src/versions/versions.ts";
import { startTestJobs } from "../jobs/support.ts";
import type { TestJobRunner } from "../jobs/support.ts";
import { startService } from "../lib/service.ts";
import type { TestProcess, TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";
import { readRecipes } from "./recipes.ts";

// Has a process of its own: it takes long.

const frozen = versionOf({ slug: "2027-01", releasedOn: "2026-01-15" });
const head = versionOf({ slug: "unstable" });
const example = await readFile(new URL("../../examples/seed-library/migration.sql", import.meta.url), "utf8");
const oldLoans = 2_500;

const lend = `mutation ($input: SeedPacketLendInput!) {
  seedPacketLend(input: $input) { seedLoan { id } userErrors { code message } } }`;
const loan = "query ($id: ID!) { seedLoan(id: $id) { borrower days packet { id } } }";
const loans = `query ($borrower: String!) {
  seedLoans(filter: { borrower: { equals: $borrower } }) { edges { node { id borrower } } } }`;

/** What a client of the head asks for when a recipe is done, and what it gets for a loan of Ada Lovelace for a week. */
const news: Record<string, [fields: string, expected: object]> = {
  "Rename a column": ["member", { member: "Ada Lovelace" }],
  "Change a type": ["lentFor", { lentFor: "P0Y0M7DT0H0M0S" }],
  "Split a column": ["givenName familyName", { givenName: "Ada", familyName: "Lovelace" }],
  "Make nullable not null": ["givenName", { givenName: "Ada" }],
  "Merge columns": ["fullName", { fullName: "Ada Lovelace" }],
  "Move a table": ["fullName", { fullName: "Ada Lovelace" }],
};

/** Requests wait 30 s for a lock, and not 3: where much runs at once, a migration holds its locks for longer. */
const patient = {
  timeoutsMs: { statement: 30_000, lock: 30_000 },
  settings: { timeoutsMs: { statement: 30_000, lock: 30_000, mutation: 60_000 } },
};

describe("the recipes of docs/guides/changing-columns.md", async () => {
  const recipes = await readRecipes();
  let service: TestService;
  let restarted: TestProcess;
  let worker: TestJobRunner;
  let token: string;
  const clients: Promise<void>[] = [];
  const refusals: string[] = [];
  const counts = [0, 0, 0, 0];
  let isOver = false;

  before(async () => {
    service = await startService({
      versions: [frozen, head],
      ...patient,
      async before(owner) {
        await owner.query(example);
        await owner.query(`
          select api_meta.finish_migration();
          insert into seed_library.variety values ('T/01', 'Ochsenherz', 'under glass', null);
          insert into seed_library.packet (variety_code, weight_in_grams, packed_on) values ('T/01', 1, '2026-01-01');
          insert into seed_library.loan (packet_id, borrower, days)
            select 1, 'Grace Hopper ' || n, n from generate_series(1, ${oldLoans}) n;
          select api_meta.freeze('api_unstable', 'api_2027_01'), api_meta.finish_migration()`);
      },
    });
    restarted = await service.another({ versions: [frozen, head], ...patient });
    worker = startTestJobs(service.loginUrl, makeTasks({ exchangeRatesFrom: undefined }));
    token = await service.token({ read: ["seed_packets", "seed_loans"], write: ["seed_loans"] });
    // One process is never restarted: those of the release before serve while a new one is set up
    for (const [index, version] of [frozen, head].entries())
      clients.push(beClient(service, version.slug, index), beClient(restarted, version.slug, index + 2));
  });
  after(async () => {
    isOver = true;
    await Promise.all(clients);
    await worker.stop();
    await service.close();
  });

  /** Lends and reads what it has lent, with the operations that it was written with. */
  async function beClient({ ask }: Pick<TestProcess, "ask">, version: string, index: number): Promise<void> {
    const must = async (query: string, variables: object) => {
      const { body, text, status } = await ask(token, { query, variables }, { version });
      if (status !== 200 || body.errors !== undefined) refusals.push(`${version} ${query}: ${text}`);
      return body.data;
    };
    for (let n = 0; !isOver; n++) {
      const borrower = `Client${index} No. ${n}`;
      const input = { packetId: "gid://service/SeedPacket/1", borrower, days: 1 + (n % 30) };
      const made = (await must(lend, { input }))?.seedPacketLend;
      const id = made?.seedLoan?.id;
      if (made?.userErrors.length !== 0) refusals.push(`${version}: ${JSON.stringify(made)}`);
      const read = (await must(loan, { id }))?.seedLoan;
      if (read?.borrower !== borrower || read.days !== input.days)
        refusals.push(JSON.stringify({ read, input }));
      const found = (await must(loans, { borrower }))?.seedLoans.edges;
      if (found?.length !== 1) refusals.push(`${borrower}: ${JSON.stringify(found)}`);
      counts[index] = n + 1;
      await sleep(250); // As clients do
    }
  }

  const refusedBy = (options: CheckOptions) =>
    withClient(service.ownerUrl, async (client) => {
      const findings = await check(client, options);
      return findings.filter(({ severity, waived }) => severity === "error" && waived === undefined);
    });

  /** Runs a migration as erp db setup does. */
  async function migrate(name: string, text: string): Promise<void> {
    const oldColumns = await withClient(service.ownerUrl, readColumns);
    const current = [{ name, text }];
    await runCurrentMigration(service.adminUrl, {}, current);
    assert.deepEqual(await refusedBy({ current, oldColumns, only: [dangerousDdl] }), [], name);
  }

  const backfillsOf = (text: string) =>
    [...text.matchAll(/api_meta\.backfill\(\s*'([^']+)'/g)].map(([, name]) => name!);
  const hasEnded = async (name: string) => {
    const { rows } = await service.owner.query(
      "select state from api_meta.backfill_progress where name = $1",
      [name],
    );
    return rows[0]?.state === "ended";
  };
  const lendOne = async (): Promise<string> => {
    const input = { packetId: "gid://service/SeedPacket/1", borrower: "Ada Lovelace", days: 7 };
    const { body, text } = await restarted.ask(token, { query: lend, variables: { input } });
    assert.equal(body.errors, undefined, text);
    return body.data.seedPacketLend.seedLoan.id;
  };

  const kindOf = async (field: string): Promise<string> => {
    const query = '{ __type(name: "SeedLoan") { fields(includeDeprecated: true) { name type { kind } } } }';
    const { body } = await restarted.ask(token, { query });
    return body.data.__type.fields.find(({ name }: any) => name === field).type.kind;
  };

  test("are all there, each with something to see", () =>
    assert.deepEqual(
      recipes.map(({ name }) => name),
      Object.keys(news),
    ));

  for (const { name, steps } of recipes)
    test(`${name}: nobody is refused, and nothing is lost`, async () => {
      if (name === "Make nullable not null")
        await service.owner.query(
          "update seed_library.loan set given_name = null where id = (select min(id::text)::uuid from seed_library.loan)",
        );
      for (const [index, text] of steps.entries()) {
        const seen = [...counts];
        await migrate(`0100-${name.replaceAll(" ", "-")}-${index + 1}.sql`, text);
        // Work in the background, and at times the next migration works it off
        if (name !== "Split a column")
          for (const backfill of backfillsOf(text)) await until(() => hasEnded(backfill));
        if (index === steps.length - 2 && name === "Make nullable not null") {
          // Refused from now on, but not yet promised: old rows might have none
          await restarted.app.reload();
          assert.equal(await kindOf("givenName"), "SCALAR");
        }
        if (index === steps.length - 1) await restarted.app.reload();
        await until(() => counts.every((count, client) => count > seen[client]!));
        assert.deepEqual(refusals.slice(0, 5), []);
      }
      if (name === "Make nullable not null") assert.equal(await kindOf("givenName"), "NON_NULL");
      const [fields, expected] = news[name]!;
      const query = `query ($id: ID!) { seedLoan(id: $id) { ${fields} } }`;
      const { body, text } = await restarted.ask(token, { query, variables: { id: await lendOne() } });
      assert.deepEqual(body.data?.seedLoan, expected, text);
    });

  test("leave all that was written, none of the old columns, and nothing for db/lint", async () => {
    isOver = true;
    await Promise.all(clients);
    const { rows } = await service.owner.query(
      `select count(*)::integer as count, count(distinct full_name)::integer as names,
         count(*) filter (where full_name ~ '^Grace Hopper \\d+$' and lent_for = make_interval(days => split_part(full_name, ' ', 3)::integer))::integer as old
       from lending.loan`,
    );
    // The row without a given name was Grace's
    assert.equal(rows[0].old, oldLoans - 1);
    assert.ok(rows[0].count >= oldLoans + counts.reduce((sum, count) => sum + count, 0));
    const { rows: columns } = await service.owner.query(
      "select array_agg(attname::text order by attnum) as names from pg_attribute where attrelid = 'lending.loan'::regclass and attnum > 0 and not attisdropped",
    );
    assert.deepEqual(columns[0].names, ["id", "packet_id", "created_at", "lent_for", "full_name"]);
    assert.deepEqual(await refusedBy({ current: [], only: [lints] }), []);
  });
});
