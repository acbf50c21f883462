import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import pg from "pg";
import { makeTasks } from "../../src/jobs/tasks.ts";
import { newValuationKey, signNextHead } from "../../src/jobs/sign-heads.ts";
import { createJobPool } from "../../src/postgres/background-pool.ts";
import { Secrets } from "../../src/secrets/secrets.ts";
import { Commands, temporaryFolder } from "../commands/process.ts";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { startTestJobs } from "../jobs/support.ts";
import type { Audit } from "../lib/audit.ts";
import { readAudit } from "../lib/audit.ts";
import type { TestDatabase } from "../lib/database.ts";
import { openTestDatabase } from "../lib/database.ts";
import { dumpPrograms } from "../lib/dump-programs.ts";
import { until } from "../lib/until.ts";
import type { ValuationShop } from "../lib/valuation-shop.ts";
import { openValuationShop } from "../lib/valuation-shop.ts";

const newKey = () => randomBytes(32).toString("base64");
const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);
const dayOf = (moment: Date) => moment.toISOString().slice(0, 10);

/** Lets reports have been closed days before, as the service would have hashed them then. */
const aged = (days: number) => `
  alter table valuation.report disable trigger keep_report;
  update valuation.report set closed_at = closed_at - interval '${days} days' where closed_at is not null;
  update valuation.report r set hash = valuation.report_hash(r) where closed_at is not null;
  alter table valuation.report enable trigger keep_report`;

/** A shop with one report, which was closed so many days ago. */
async function openShopWithReport(days: number): Promise<ValuationShop> {
  const shop = await openValuationShop();
  await shop.buy("hammer", 10, 2);
  await shop.passDays(days + 5);
  await shop.report(days + 2);
  await shop.owner.query(aged(days));
  return shop;
}

const list = "query { stockValuationHeads(first: 250, orderBy: DAY_ASC) { edges { node {";
const nodesOf = (connection: any): any[] => connection.edges.map(({ node }: any) => node);

async function headsOf(shop: ValuationShop): Promise<any[]> {
  const fields = "id day reportNumber reportHash previousHash signature signedAt signingKey { id publicKey }";
  return nodesOf((await shop.read(`${list} ${fields} } } } }`)).stockValuationHeads);
}

async function keysOf(shop: ValuationShop): Promise<any[]> {
  const query = "query { stockValuationSigningKeys { edges { node { publicKey retiredAt } } } }";
  return nodesOf((await shop.read(query)).stockValuationSigningKeys);
}

async function hashesOf(shop: ValuationShop): Promise<Record<number, string>> {
  const query = "query { stockValuationReports { edges { node { number hash } } } }";
  const reports = nodesOf((await shop.read(query)).stockValuationReports);
  return Object.fromEntries(reports.map(({ number, hash }) => [number, hash]));
}

/** All that an auditor gets. */
const evidenceOf = async (shop: ValuationShop): Promise<Parameters<Audit>> => [
  await headsOf(shop),
  (await keysOf(shop)).map(({ publicKey }) => publicKey),
  await hashesOf(shop),
];

const faults = async (owner: pg.Pool) =>
  (await owner.query("select figure from valuation.proof order by figure")).rows.map(({ figure }) => figure);

/** Signs what is due as a worker process does. Returns how many heads it was asked for. */
async function work(
  shop: Pick<TestDatabase, "loginUrl">,
  secrets = new Secrets([]),
  moment?: Date,
): Promise<number> {
  const pool = createJobPool(shop.loginUrl, 1);
  try {
    let count = 0;
    while (await signNextHead(pool, secrets, moment)) count++;
    return count;
  } finally {
    await pool.end();
  }
}

describe("signed heads", () => {
  let shop: ValuationShop;
  let audit: Audit;
  before(async () => {
    audit = await readAudit();
    shop = await openShopWithReport(10);
  });
  after(() => shop.close());

  it("begin with yesterday, after the first report", async () => {
    assert.equal(await work(shop, undefined, daysAgo(10)), 0, "no report was closed by then");
    assert.deepEqual(await keysOf(shop), []);
    assert.equal(await work(shop, undefined, daysAgo(6)), 2, "a key and a head");
    const [head, ...others] = await headsOf(shop);
    assert.deepEqual(others, []);
    const hashes = await hashesOf(shop);
    assert.deepEqual(
      [head.day, head.reportNumber, head.reportHash, head.previousHash],
      [dayOf(daysAgo(7)), 1, hashes[1], null],
    );
    assert.equal(await work(shop, undefined, daysAgo(6)), 0, "none twice");
  });

  it("are made by the job, also of the days that were missed and on which nothing was closed", async () => {
    await sequence(shop.owner);
    const end = await endOfLog(shop.owner);
    const worker = startTestJobs(shop.loginUrl, makeTasks({ exchangeRatesFrom: undefined }), {
      atStart: ["sign_valuation_heads"],
    });
    await until(async () => (await headsOf(shop)).length === 7);
    await worker.stop();
    const heads = await headsOf(shop);
    assert.deepEqual(
      heads.map(({ day }) => day),
      [7, 6, 5, 4, 3, 2, 1].map((days) => dayOf(daysAgo(days))),
    );
    assert.deepEqual(new Set(heads.map(({ reportNumber }) => reportNumber)), new Set([1]));
    await sequence(shop.owner);
    const told = (await logAfter(shop.owner, end)).filter(
      ({ topic }) => topic === "stock_valuation_head.signed",
    );
    assert.deepEqual(
      told.map(({ data }: any) => data.signature),
      heads.slice(1).map(({ signature }) => signature),
    );
  });

  it("are verified by the code of the guide, with a stock library", async () => {
    await audit(...(await evidenceOf(shop)));
    assert.deepEqual(await faults(shop.owner), []);
    const [{ publicKey, retiredAt }] = await keysOf(shop);
    assert.deepEqual(
      [publicKey.kty, publicKey.crv, publicKey.alg, retiredAt],
      ["OKP", "Ed25519", "EdDSA", null],
    );
    assert.deepEqual(
      Object.keys(publicKey).sort(),
      ["alg", "crv", "kid", "kty", "use", "x"],
      "no private part",
    );
  });

  it("show that a report was changed, though all hashes in the database fit again", async () => {
    const client = await shop.owner.connect();
    try {
      await client.query(`begin;
        alter table valuation.report disable trigger keep_report;
        update valuation.report set state_hash = repeat('0', 64);
        update valuation.report r set hash = valuation.report_hash(r)`);
      const { rows } = await client.query("select number, hash from valuation.report");
      const { rows: wrong } = await client.query("select distinct figure from valuation.proof");
      assert.ok(wrong.some(({ figure }) => figure === "head.report_hash"));
      const [heads, keys] = await evidenceOf(shop);
      const hashes = Object.fromEntries(rows.map(({ number, hash }) => [number, hash]));
      await assert.rejects(audit(heads, keys, hashes), /the report was changed/);
    } finally {
      await client.query("rollback");
      client.release();
    }
  });

  it("fail if they were changed, left out, or signed with another key", async () => {
    const [heads, keys, hashes] = await evidenceOf(shop);
    const [header, payload, signature] = heads[2]!.signature.split(".");
    const forged = Buffer.from(
      Buffer.from(payload!, "base64url").toString().replace(hashes[1]!, "0".repeat(64)),
    ).toString("base64url");
    const withThird = (text: string) => heads.map((head, n) => (n === 2 ? { signature: text } : head));
    await assert.rejects(audit(withThird([header, forged, signature].join(".")), keys, hashes), {
      code: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
    });
    await assert.rejects(audit(heads.toSpliced(2, 1), keys, hashes), /the head before is missing/);
    const [kid, x] = newValuationKey(new Secrets([]));
    const other = { ...keys[0]!, x };
    await assert.rejects(audit(heads, [other], hashes), { code: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" });
    await assert.rejects(audit(heads, [{ ...keys[0]!, kid }], hashes), { code: "ERR_JWKS_NO_MATCHING_KEY" });
  });

  it("can't be changed or deleted by anybody, nor can their keys", async () => {
    for (const statement of [
      "update valuation.head set report_number = report_number",
      "delete from valuation.head",
      "delete from valuation.signing_key",
      "update valuation.signing_key set public_key = reverse(public_key)",
    ])
      await assert.rejects(shop.owner.query(statement), { code: "23001" }, statement);
    // A row with another content than its signature's
    await assert.rejects(
      shop.owner.query(`insert into valuation.head
        select uuidv7(), day + 100, report_number, report_hash, previous_hash, signing_key_id, signature, signed_at
        from valuation.head limit 1`),
      { constraint: "head_signature_is_of_the_row" },
    );
  });

  it("need the scope valuation:read", async () => {
    const token = await shop.token({ read: ["products"], write: [] });
    for (const field of ["stockValuationHeads", "stockValuationSigningKeys"]) {
      const { body } = await shop.ask(token, { query: `{ ${field} { edges { node { id } } } }` });
      assert.equal(body.errors[0].extensions.code, "FORBIDDEN");
    }
  });

  it("make the proof report heads that fit no report, or not each other", async () => {
    const client = await shop.owner.connect();
    try {
      await client.query(`begin; insert into valuation.head (day, report_number, report_hash, previous_hash,
          signing_key_id, signature, signed_at)
        select d.day, d.number, repeat('1', 64), repeat('2', 64), k.id,
          valuation.head_text(k.id, d.day, d.number, repeat('1', 64), repeat('2', 64)) || '.x', now()
        from valuation.signing_key k, (values (current_date + 7, 1), (current_date + 9, 5)) d (day, number)`);
      const { rows } = await client.query("select distinct figure from valuation.proof order by figure");
      assert.deepEqual(
        rows.map(({ figure }) => figure),
        ["head.day", "head.previous_hash", "head.report_hash", "head.report_number"],
      );
    } finally {
      await client.query("rollback");
      client.release();
    }
  });
});

describe("several processes", () => {
  let shop: ValuationShop;
  before(async () => {
    shop = await openShopWithReport(20);
  });
  after(() => shop.close());

  it("sign at once, with one key and one head for each day", async () => {
    await work(shop, undefined, daysAgo(15));
    await Promise.all([1, 2, 3, 4].map(() => work(shop)));
    assert.equal((await keysOf(shop)).length, 1);
    const heads = await headsOf(shop);
    assert.equal(heads.length, 16);
    await (
      await readAudit()
    )(...(await evidenceOf(shop)));
    assert.deepEqual(await faults(shop.owner), []);
  });

  it("make one key when all find none", async () => {
    const other = await openShopWithReport(3);
    try {
      await Promise.all([1, 2, 3, 4].map(() => work(other)));
      assert.deepEqual([(await keysOf(other)).length, (await headsOf(other)).length], [1, 1]);
    } finally {
      await other.close();
    }
  });

  it("store no head that another state has outdated", async () => {
    const { rows } = await shop.owner.query("select * from valuation.next_head(now() + interval '1 day')");
    const add = async (text: string) =>
      (await shop.owner.query("select valuation.add_head($1, now() + interval '1 day') as stored", [text]))
        .rows[0].stored;
    assert.equal(await add(`${rows[0].text.replace(/.$/, "")}.x`), false);
    assert.equal((await headsOf(shop)).length, 16);
  });

  it("refuse to close a report in a transaction that began before the signature, which can be repeated", async () => {
    const { stockValuationReport: draft } = await shop.draft(1);
    const client = await shop.owner.connect();
    const close = "select valuation.close_report(id) from valuation.report where closed_at is null";
    try {
      await client.query("begin; select now()");
      await work(shop, undefined, daysAgo(-1));
      await assert.rejects(client.query(close), { code: "40001" });
    } finally {
      await client.query("rollback");
      client.release();
    }
    // The head of the test is of tomorrow
    await shop.owner.query("alter table valuation.report disable trigger keep_signed_days_on_update");
    assert.deepEqual((await shop.closeReport(draft.id)).userErrors, []);
  });
});

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
