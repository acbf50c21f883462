import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import pg from "pg";
import { Secrets } from "../../src/secrets/secrets.ts";
import { Commands, temporaryFolder } from "../commands/process.ts";
import { openTestDatabase } from "../lib/database.ts";
import { dumpPrograms } from "../lib/dump-programs.ts";
import {
  daysAgo,
  evidenceOf,
  faults,
  headsOf,
  openShopWithReport,
  readAudit,
  work,
} from "../lib/valuation-heads.ts";
import type { ValuationShop } from "../lib/valuation-shop.ts";

const newKey = () => randomBytes(32).toString("base64");
describe("keys that sign heads", () => {
  const [key, nextKey] = [newKey(), newKey()];
  let shop: ValuationShop;
  let commands: Commands;
  before(async () => {
    shop = await openShopWithReport(20);
    commands = new Commands(shop.adminUrl);
  });
  after(async () => {
    await commands.close();
    await shop.close();
  });
  const secretsOf = async () =>
    (await shop.owner.query("select secret from valuation.signing_key order by created_at, id")).rows.map(
      ({ secret }) => secret,
    );
  const keysCommand = async (args: string[], SECRETS_KEY: string): Promise<any> => {
    const { exitCode, stdout, stderr } = await commands.run({
      args: ["keys", ...args, "--json"],
      settings: { SECRETS_KEY },
    });
    assert.equal(exitCode, 0, stderr);
    return JSON.parse(stdout);
  };

  it("are plain without SECRETS_KEY, and encrypted by a command", async () => {
    await work(shop, undefined, daysAgo(15));
    assert.match((await secretsOf())[0], /^MC4CAQ/);
    assert.equal((await keysCommand(["encrypt"], key)).signing_keys, 1 + (await signingKeys()));
    assert.ok((await secretsOf())[0].startsWith(`sealed:v1:${new Secrets([key]).currentKeyId}:`));
    assert.equal(await work(shop, new Secrets([key]), daysAgo(12)), 3);
  });
  const signingKeys = async () =>
    (await shop.owner.query("select count(*)::integer as n from auth.signing_key")).rows[0].n;

  it("are encrypted again when SECRETS_KEY changes, and sign on", async () => {
    await keysCommand(["encrypt"], `${nextKey},${key}`);
    assert.ok((await secretsOf())[0].startsWith(`sealed:v1:${new Secrets([nextKey]).currentKeyId}:`));
    await assert.rejects(work(shop, new Secrets([key]), daysAgo(10)), { code: "NO_SECRETS_KEY" });
    assert.equal(await work(shop, new Secrets([nextKey]), daysAgo(10)), 2);
  });

  it("are replaced by a command: the old private key is erased, and the public key stays", async () => {
    const { kid, x } = await keysCommand(["rotate", "--valuation"], nextKey);
    const [old, fresh] = await secretsOf();
    assert.equal(old, null);
    assert.ok(fresh.startsWith("sealed:v1:"));
    await assert.rejects(
      shop.owner.query("update valuation.signing_key set secret = 'x', retired_at = null"),
      {
        code: "23001",
      },
    );
    assert.equal(await work(shop, new Secrets([nextKey])), 10);
    const heads = await headsOf(shop);
    assert.deepEqual(new Set(heads.map(({ signingKey }) => signingKey.publicKey.kid)).size, 2);
    const { publicKey } = heads.at(-1).signingKey;
    assert.deepEqual([publicKey.kid, publicKey.x], [kid, x]);
    await (
      await readAudit()
    )(...(await evidenceOf(shop)));
    assert.deepEqual(await faults(shop.owner), []);
  });

  const skip = dumpPrograms === undefined && "there is no pg_dump of Postgres 18 or newer";
  it("come back from a dump with the heads, and sign on", { skip }, async () => {
    const folder = await temporaryFolder();
    const copy = await openTestDatabase("template0");
    const client = new pg.Client({ connectionString: copy.adminUrl });
    try {
      const file = join(folder.path, "dump");
      const run = (program: string, ...args: string[]) =>
        promisify(execFile)(join(dumpPrograms!, program), args);
      await run("pg_dump", "--format=custom", "--file", file, shop.adminUrl);
      await run("pg_restore", "--dbname", copy.adminUrl, file);
      await client.connect();
      const { rows: heads } = await client.query("select signature from valuation.head order by day");
      const [wanted, keys, hashes] = await evidenceOf(shop);
      assert.deepEqual(
        heads.map(({ signature }) => signature),
        wanted.map(({ signature }) => signature),
      );
      const { rows } = await client.query("select public_key from api_unstable.stock_valuation_signing_keys");
      const found = rows.map(({ public_key: key }) => key);
      assert.deepEqual(new Set(found.map(({ x }) => x)), new Set(keys.map((key: any) => key.x)));
      assert.equal(await work(copy, new Secrets([nextKey]), daysAgo(-2)), 2);
      const { rows: signed } = await client.query("select signature from valuation.head order by day");
      await (
        await readAudit()
      )(signed, keys, hashes);
      await assert.rejects(client.query("delete from valuation.head"), { code: "23001" });
    } finally {
      await client.end();
      await copy.close();
      await folder.remove();
    }
  });

  it("are other ones in another database", async () => {
    const other = await openShopWithReport(3);
    try {
      await work(other);
      const [heads, , hashes] = await evidenceOf(other);
      const [, keys] = await evidenceOf(shop);
      await assert.rejects((await readAudit())(heads, keys, hashes), { code: "ERR_JWKS_NO_MATCHING_KEY" });
    } finally {
      await other.close();
    }
  });

  it("are not stored in plain beside encrypted secrets, and can be replaced when SECRETS_KEY is lost", async () => {
    const rotate = ["keys", "rotate", "--valuation"];
    assert.equal((await commands.run({ args: rotate, settings: { SECRETS_KEY: "" } })).exitCode, 1);
    await shop.owner.query("delete from auth.signing_key");
    const { kid } = await keysCommand(["rotate", "--valuation"], key);
    const { rows } = await shop.owner.query("select id from valuation.signing_key where retired_at is null");
    assert.deepEqual(rows, [{ id: kid }]);
  });
});
