import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { copyDatabase, toLibpqUrl, requireDumpPrograms } from "../../src/cluster/pg-dump.ts";
import { merchantDatabaseName } from "../../src/merchants/merchant-database.ts";
import { urlOfDatabase } from "../../src/migrations/templates.ts";
import { readDirectory, storeMerchant } from "../../src/merchants/directory.ts";
import { startCommand, temporaryFolder } from "../commands/process.ts";
import { dumpPrograms } from "../lib/dump-programs.ts";
import { withConnection, hostOf, openMerchants } from "../lib/merchants.ts";
import type { TestMerchants } from "../lib/merchants.ts";
import { startOwnPostgres } from "../lib/prepared.ts";
import type { OwnPostgres } from "../lib/prepared.ts";
import { until } from "../lib/until.ts";

const adminUrl = process.env.TEST_ADMIN_URL!;
const skip = dumpPrograms === undefined && "there is no pg_dump of Postgres 18 or newer";

/** The URL's parameters for pg_dump, and the password. */
const parametersOf = (parameters: string) => {
  const given = new URL(`postgres://user@db.example/shop${parameters}`);
  given.password = "inside";
  const { url, env } = toLibpqUrl(given.href);
  assert.equal(new URL(url).password, "");
  return [new URL(url).search, env.PGPASSWORD];
};

test("pg_dump connects as the service does, and no password is among its words", async () => {
  assert.deepEqual(parametersOf(""), ["", "inside"]);
  assert.deepEqual(parametersOf("?password=p%2Bq"), ["", "p+q"]);
  assert.deepEqual(parametersOf("?sslmode=no-verify"), ["?sslmode=require", "inside"]);
  assert.deepEqual(parametersOf("?sslmode=disable&options=-c%20a%3D1"), [
    "?sslmode=disable&options=-c%20a%3D1",
    "inside",
  ]);
  // node-postgres checks certificates for this, pg_dump wouldn't
  assert.equal(parametersOf("?sslmode=require")[0], "?sslmode=verify-full&sslrootcert=system");
  assert.equal(parametersOf("?sslrootcert=/ca.pem")[0], "?sslrootcert=%2Fca.pem&sslmode=verify-full");
  assert.equal(parametersOf("?sslmode=require&uselibpqcompat=true")[0], "?sslmode=require");
  for (const wrong of ["?ssl=true", "?sslmode=other", "?keepAlive=1"])
    await assert.rejects(requireDumpPrograms(18, [adminUrl + wrong]), /don't take/);
});

suite("npx erp merchants move", { skip }, () => {
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

  async function hold(t: TestContext): Promise<void> {
    t.after(() => rm(held, { force: true }));
    await writeFile(held, "");
  }

  const move = (merchants = opened.folder) =>
    startCommand(["merchants", "move", merchant().name], {
      MERCHANTS: merchants,
      DATABASE_URL: target.cluster.adminUrl("postgres"),
      FROM_DATABASE_URL: adminUrl,
      PATH: `${folder.path}${delimiter}${process.env.PATH}`,
    });

  /** Gives the merchant's database settings: for all, and for a role. */
  const settings = () =>
    withConnection(adminUrl, async (client) => {
      const name = merchantDatabaseName(merchant().name);
      await client.query(`alter database "${name}" set "note.of" = 'x = 1, "y"'`);
      await client.query(
        `alter role service_owner in database "${name}" set search_path = erp, "$user", "A ""b"", c"`,
      );
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

  test("a move that is broken off leaves the merchant where it was; until then it can be read", async (t) => {
    await write();
    const before = await fileOf();
    await hold(t);
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

  test("a move changes nothing when the merchant is elsewhere at its end", async (t) => {
    const other = await temporaryFolder();
    t.after(() => other.remove());
    await storeMerchant(other.path, merchant());
    await hold(t);
    const moving = move(other.path);
    await moving.said(/^Copying .* Reads go on/m);
    await until(async () => (await write()) === "CONFLICT_RETRY");
    const elsewhere = { ...merchant(), databaseUrl: urlOfDatabase(merchant().databaseUrl, "elsewhere") };
    await storeMerchant(other.path, elsewhere);
    await rm(held);
    assert.equal(await moving.ended, 1);
    assert.match(moving.output(), /served from another database meanwhile/);
    assert.deepEqual(await readDirectory(other.path), [elsewhere]);
    await until(async () => (await write()) === null);
  });

  test("what pg_dump says comes before what follows from it", async () => {
    const { PATH } = process.env;
    process.env.PATH = `${dumpPrograms!}${delimiter}${PATH}`;
    const copying = copyDatabase(urlOfDatabase(adminUrl, "nothing"), target.cluster.adminUrl("postgres"));
    process.env.PATH = PATH;
    await assert.rejects(copying, {
      message: /^pg_dump at \S+ failed: .*database "nothing" does not exist\s+pg_restore at /,
    });
  });

  test("a move under reads and writes loses nothing that was answered, and can be begun again", async (t) => {
    let isDone = false;
    await settings();
    await hold(t);
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
    await moving.said(/^Copying .* Reads go on/m);
    // Meanwhile it gets another host
    const hosts = [...merchant().hosts, "second.example"];
    await storeMerchant(opened.folder, { ...merchant(), hosts });
    await rm(held);
    const code = await moving.ended;
    const moved = written.length;
    // Who serves notices within a second
    await until(() => written.length > moved + 5).finally(() => (isDone = true));
    await Promise.all(clients);
    assert.equal(code, 0, moving.output());
    assert.match(moving.output(), /ledger\.proof is empty/);
    assert.deepEqual(wrong, []);
    assert.ok(reads > 0);
    const there = urlOfDatabase(target.cluster.adminUrl("postgres"), merchantDatabaseName(merchant().name));
    const codes = await withConnection(there, async (client) => {
      const { rows } = await client.query<{ code: string }>("select code from erp.warehouse");
      return new Set(rows.map((row) => row.code));
    });
    assert.deepEqual(
      written.filter((code) => !codes.has(code)),
      [],
    );
    // Nobody serves it from the old one by mistake
    await assert.rejects(
      withConnection(merchant().databaseUrl, async () => {}),
      { code: "42501" },
    );
    assert.ok((await fileOf()).includes(`:${new URL(there).port}/`));
    assert.deepEqual((await readDirectory(opened.folder)).merchants[0]!.hosts, hosts);
  });

  test("rights, rules, comments and settings are those of the old database", async () => {
    const dump = await readFile(new URL("../../db/dump.sql", import.meta.url), "utf8");
    const definitionsAt = (url: string) =>
      withConnection(urlOfDatabase(url, merchantDatabaseName(merchant().name)), async (client) => {
        const { rows } = await client.query<{ definition: string }>(dump);
        // A restored view names columns that had no names, and has fewer parentheses
        return rows.flatMap(({ definition }) => definition.replace(/ AS \w+|[()]/g, "").split("\n"));
      });
    const [from, to] = await Promise.all([adminUrl, target.cluster.adminUrl("postgres")].map(definitionsAt));
    assert.ok(from!.length > 10_000);
    const [before, now] = [new Set(from), new Set(to)];
    const differing = [...from!.filter((line) => !now.has(line)), ...to!.filter((line) => !before.has(line))];
    assert.deepEqual(differing, []);
    const settingsAt = (url: string) =>
      withConnection(urlOfDatabase(url, merchantDatabaseName(merchant().name)), async (client) => {
        const { rows } = await client.query<{ name: string; setconfig: string[] }>(
          `select r.rolname as name, s.setconfig from pg_db_role_setting s left join pg_roles r on r.oid = s.setrole
           where s.setdatabase = (select oid from pg_database where datname = current_database()) order by 1`,
        );
        return rows;
      });
    const [given, copied] = await Promise.all(
      [adminUrl, target.cluster.adminUrl("postgres")].map(settingsAt),
    );
    assert.equal(given!.length, 2);
    assert.deepEqual(copied, given);
  });
});
