import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { databaseOf } from "../../src/database/merchant-database.ts";
import { besides } from "../../src/database/migrations/templates.ts";
import { startCommand, temporaryFolder } from "../commands/process.ts";
import { dumpPrograms } from "../lib/dump-programs.ts";
import { connected, hostOf, openMerchants } from "../lib/merchants.ts";
import type { TestMerchants } from "../lib/merchants.ts";
import { startOwnPostgres } from "../lib/prepared.ts";
import type { OwnPostgres } from "../lib/prepared.ts";
import { until } from "../lib/until.ts";

const adminUrl = process.env.TEST_ADMIN_URL!;
const skip = dumpPrograms === undefined && "there is no pg_dump of Postgres 18 or newer";

suite("npm run merchants -- move", { skip }, () => {
  let opened: TestMerchants;
  let target: OwnPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let token: string;
  /** While there is this file, a copy stands still. */
  let held: string;

  before(async () => {
    folder = await temporaryFolder();
    held = join(folder.path, "held");
    // Postgres' own programs, of which one waits
    for (const [name, first] of Object.entries({
      pg_dump: "",
      pg_restore: `while [ -e ${held} ]; do sleep 0.05; done`,
    })) {
      const text = `#!/bin/sh\n[ "$1" = --version ] || { ${first || ":"}; }\nexec ${join(dumpPrograms!, name)} "$@"\n`;
      await writeFile(join(folder.path, name), text, { mode: 0o755 });
    }
    target = await startOwnPostgres({ directory: join(folder.path, "target") });
    opened = await openMerchants({ count: 1, settings: { LOCK_TIMEOUT: "1" } });
    token = await opened.tokenAt(opened.merchants[0]!, "all");
  });
  after(async () => {
    await opened?.close();
    await target?.cluster.stop();
    await folder?.remove();
  });

  const merchant = () => opened.merchants[0]!;
  const fileOf = () => readFile(join(opened.folder, `${merchant().name}.env`), "utf8");
  const graphql = (query: string) =>
    opened.ask(hostOf(merchant()), "/api/graphql/unstable", { query }, { authorization: `Bearer ${token}` });

  const move = () =>
    startCommand(["merchants.ts", "move", merchant().name], {
      MERCHANTS: opened.folder,
      DATABASE_URL: target.cluster.adminUrl("postgres"),
      FROM_DATABASE_URL: adminUrl,
      PATH: `${folder.path}${delimiter}${process.env.PATH}`,
    });

  const passing = ["CONFLICT_RETRY", "SERVICE_UNAVAILABLE", "THROTTLED"];
  /** Answers that no client should get. */
  const wrong: string[] = [];
  function judge(body: any, text: string): string {
    const code = body?.errors?.[0]?.extensions?.code;
    if (!passing.includes(code)) wrong.push(text);
    return code;
  }

  const written: string[] = [];
  let count = 0;
  /** Tries to write a row. @returns the code of its refusal, or null */
  async function write(): Promise<string | null> {
    const code = `W${++count}`;
    const { body, text } = await graphql(
      `mutation { warehouseCreate(input: { code: "${code}", name: "${code}" }) { warehouse { id } userErrors { code } } }`,
    );
    if (!body?.data?.warehouseCreate?.warehouse) return judge(body, text);
    written.push(code);
    return null;
  }
  const read = async () => (await graphql("{ warehouses(first: 1) { edges { node { code } } } }")).body;

  test("a move that is broken off leaves the merchant where it was; until then it can be read", async () => {
    await write();
    const before = await fileOf();
    await writeFile(held, "");
    const moving = move();
    await moving.said(/^Copying .* Reads go on/m);
    await until(async () => (await write()) === "CONFLICT_RETRY");
    assert.equal((await read()).data.warehouses.edges.length, 1);
    moving.kill("SIGKILL");
    await moving.ended;
    await until(async () => (await write()) === null);
    assert.equal(await fileOf(), before);
    await rm(held);
  });

  test("a move under reads and writes loses nothing that was answered, and can be begun again", async () => {
    let isDone = false;
    const moving = move();
    const client = async (work: () => Promise<unknown>) => {
      while (!isDone) {
        await work();
        // As long as a client thinks
        await sleep(200);
      }
    };
    let reads = 0;
    const reading = async () => {
      const body = await read();
      if (body?.data?.warehouses) reads++;
      else judge(body, JSON.stringify(body));
    };
    const clients = [client(write), client(write), client(reading)];
    const code = await moving.ended;
    const moved = written.length;
    // Who serves notices within a second
    await until(() => written.length > moved + 5).finally(() => (isDone = true));
    await Promise.all(clients);
    assert.equal(code, 0, moving.output());
    assert.match(moving.output(), /ledger\.proof is empty/);
    assert.deepEqual(wrong, []);
    assert.ok(reads > 0);
    const there = besides(target.cluster.adminUrl("postgres"), databaseOf(merchant().name));
    const codes = await connected(there, async (client) => {
      const { rows } = await client.query<{ code: string }>("select code from erp.warehouse");
      return new Set(rows.map((row) => row.code));
    });
    assert.deepEqual(
      written.filter((code) => !codes.has(code)),
      [],
    );
    // Nobody serves it from the old one by mistake
    await assert.rejects(
      connected(merchant().databaseUrl, async () => {}),
      { code: "42501" },
    );
    assert.ok((await fileOf()).includes(`:${new URL(there).port}/`));
  });

  test("rights, rules and comments are those of the old database", async () => {
    const dump = await readFile(new URL("../../db/dump.sql", import.meta.url), "utf8");
    const definitionsAt = (url: string) =>
      connected(besides(url, databaseOf(merchant().name)), async (client) => {
        const { rows } = await client.query<{ definition: string }>(dump);
        // A restored view names columns that had no names, and has fewer parentheses
        return rows.flatMap(({ definition }) => definition.replace(/ AS \w+|[()]/g, "").split("\n"));
      });
    const [from, to] = await Promise.all([adminUrl, target.cluster.adminUrl("postgres")].map(definitionsAt));
    assert.ok(from!.length > 10_000);
    const [before, now] = [new Set(from), new Set(to)];
    const differing = [...from!.filter((line) => !now.has(line)), ...to!.filter((line) => !before.has(line))];
    assert.deepEqual(differing, []);
  });
});
