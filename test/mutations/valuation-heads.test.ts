import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeTasks } from "../../src/jobs/tasks.ts";
import { newValuationKey, signNextHead } from "../../src/jobs/sign-heads.ts";
import { Secrets } from "../../src/secrets/secrets.ts";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { startTestJobs } from "../jobs/support.ts";
import { until } from "../lib/until.ts";
import type { Audit } from "../lib/valuation-heads.ts";
import {
  dayOf,
  daysAgo,
  evidenceOf,
  faults,
  hashesOf,
  headsOf,
  keysOf,
  openShopWithReport,
  readAudit,
  work,
} from "../lib/valuation-heads.ts";
import type { ValuationShop } from "../lib/valuation-shop.ts";

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

  it("name the moment of the signature, and are signed by no process at another time", async () => {
    for (const { signature, signedAt } of await headsOf(shop)) {
      const { iat } = JSON.parse(Buffer.from(signature.split(".")[1], "base64url").toString());
      assert.equal(iat * 1000, Date.parse(signedAt));
    }
    const next =
      "select signing_key_id as \"keyId\", secret, text from valuation.next_head(now() + interval '1 day')";
    const { rows } = await shop.owner.query(next);
    const asked: string[] = [];
    // A database whose owner wants a head of another time
    const database: any = { query: async (text: string) => (asked.push(text), { rows }) };
    await assert.rejects(signNextHead(database, new Secrets([])), /another time/);
    assert.equal(asked.length, 1, "nothing is stored");
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
          valuation.head_text(k.id, d.day, d.number, repeat('1', 64), repeat('2', 64), date_trunc('second', now())) || '.x',
          date_trunc('second', now())
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
    const moment = daysAgo(-1);
    const { rows } = await shop.owner.query("select * from valuation.next_head($1)", [moment]);
    const add = async (text: string) =>
      (await shop.owner.query("select valuation.add_head($1, $2) as stored", [text, moment])).rows[0].stored;
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
