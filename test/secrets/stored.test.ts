import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { Secrets, secretPlace } from "../../src/secrets/secrets.ts";
import { Commands, runCommand, runOn } from "../commands/process.ts";
import { openShop } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import { query, startService } from "../lib/service.ts";
import { until } from "../lib/until.ts";
import { fast, startReceiver, startTestWebhooks, subscribe, verifySignature } from "../webhooks/support.ts";
import type { Receiver } from "../webhooks/support.ts";

const newKey = () => randomBytes(32).toString("base64");

describe("secrets in the database", () => {
  const [key, nextKey] = [newKey(), newKey()];
  let shop: Shop;
  let commands: Commands;
  let receiver: Receiver;
  /** Of a webhook from before there was a key. */
  let earlier: { id: string; secret: string };

  before(async () => {
    receiver = await startReceiver();
    shop = await openShop();
    commands = new Commands(shop.adminUrl);
    await shop.token();
    const secret = `whsec_${newKey()}`;
    const id = await subscribe(shop.owner, {
      topic: "product.updated",
      url: `${receiver.url}/earlier`,
      secret,
    });
    earlier = { id, secret };
  });
  after(async () => {
    await commands.close();
    await shop.close();
    await receiver.close();
  });

  const keysCommand = (args: string[], secretsKey: string) =>
    commands.run({ args: ["keys", ...args], settings: { SECRETS_KEY: secretsKey } });
  const having = (...secretsKeys: string[]) => shop.another({ settings: { explorer: false, secretsKeys } });
  const stored = async (): Promise<{ id: string; secret: string }[]> =>
    (
      await shop.owner.query(
        "select id, secret from events.webhook_secret union all select id, secret from auth.signing_key",
      )
    ).rows;

  /** Every row of every table, as text. */
  async function dump(): Promise<string> {
    const { rows: tables } = await shop.owner.query(
      `select c.oid::regclass::text as name from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
       where c.relkind = 'r'`,
    );
    const texts = [];
    for (const { name } of tables) {
      const { rows } = await shop.owner.query(`select t::text from ${name} t`);
      texts.push(...rows.map(({ t }) => t as string));
    }
    return texts.join("\n");
  }

  /** Causes an event with webhooks. Returns the messages to each subscriber, by path. */
  async function tell(secrets: Secrets, paths: string[]) {
    receiver.received.length = 0;
    const webhooks = startTestWebhooks(shop.loginUrl, { clock: fast(0.001), secrets });
    try {
      await shop.owner.query(
        "update erp.product set reorder_point = coalesce(reorder_point, 0) + 1 where product_number = 'hammer'",
      );
      const messageTo = (path: string) => receiver.received.find((message) => message.path === path);
      await until(() => paths.every((path) => messageTo(path)));
      return paths.map((path) => messageTo(path)!);
    } finally {
      await webhooks.stop();
    }
  }

  it("are encrypted by a command, once, and still sign", async () => {
    const token = await shop.token();
    assert.ok((await dump()).includes(earlier.secret), "the dump would show it");
    const { log } = await having(key);
    assert.match(
      JSON.stringify(log),
      /1 keys that sign access tokens and 1 webhook secrets in the database are not encrypted yet/,
    );
    const first = await keysCommand(["encrypt", "--json"], key);
    assert.equal(first.exitCode, 0, first.stderr);
    const { currentKeyId: key_id } = new Secrets([key]);
    assert.deepEqual(JSON.parse(first.stdout), {
      key_id,
      signing_keys: 1,
      webhook_secrets: 1,
      carrier_secrets: 0,
    });
    const before = await stored();
    const again = await keysCommand(["encrypt", "--json"], key);
    assert.deepEqual(JSON.parse(again.stdout), {
      key_id,
      signing_keys: 0,
      webhook_secrets: 0,
      carrier_secrets: 0,
    });
    assert.deepEqual(await stored(), before);
    const [message] = await tell(new Secrets([key]), ["/earlier"]);
    verifySignature(message!, earlier.secret);
    const process = await having(key);
    assert.equal((await process.ask(token, { query })).status, 200, "the key is the same");
    assert.equal((await shop.ask(await shop.token(), { query })).status, 200, "who had read it goes on");
  });

  it("are encrypted from the beginning where the first start has a key", async () => {
    const fresh = await startService({ settings: { explorer: false, secretsKeys: [key] } });
    try {
      assert.equal((await fresh.ask(await fresh.token(), { query })).status, 200);
      const { rows } = await fresh.owner.query(
        "select auth.secrets_key_id(secret) as id from auth.signing_key",
      );
      assert.deepEqual(rows, [{ id: new Secrets([key]).currentKeyId }]);
    } finally {
      await fresh.close();
    }
  });

  it("are not in a dump, those made later neither", async () => {
    const process = await having(key);
    const token = await process.tokenFor(await shop.credential({ read: "all", write: "all" }));
    const subscribeBy = async (input: object) => {
      const { body } = await process.ask(token, {
        query: `mutation ($input: WebhookSubscriptionCreateInput!) { webhookSubscriptionCreate(input: $input) {
          secret webhookSubscription { id } userErrors { code message } } }`,
        variables: { input },
      });
      return body.data.webhookSubscriptionCreate;
    };
    const rotate = async (id: string) => {
      const { body } = await process.ask(token, {
        query: `mutation ($input: WebhookSubscriptionRotateSecretInput!) {
          webhookSubscriptionRotateSecret(input: $input) { secret userErrors { code } } }`,
        variables: { input: { id } },
      });
      return body.data.webhookSubscriptionRotateSecret.secret;
    };
    const input = { topic: "product.updated", url: "https://shop.example/hook", apiVersion: "unstable" };
    const idempotencyKey = "once";
    const { secret, webhookSubscription, userErrors } = await subscribeBy({ ...input, idempotencyKey });
    assert.deepEqual(userErrors, []);
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal((await subscribeBy({ ...input, idempotencyKey })).secret, null, "shown once");
    assert.equal((await subscribeBy({ ...input, topic: "no.such" })).secret, null);
    const rotated = await rotate(webhookSubscription.id);
    assert.notEqual(rotated, secret);
    const { rows } = await shop.owner.query("select id, secret from auth.signing_key");
    const signing = rows.map((row) =>
      new Secrets([key]).open(row.secret, secretPlace("signing key", row.id)),
    );
    assert.match(signing[0]!, /^[A-Za-z0-9+/]{43}=$/);

    const text = await dump();
    assert.ok(text.includes("sealed:v1:"));
    for (const plain of [secret, rotated, earlier.secret, ...signing, key]) {
      const bytes = Buffer.from(plain.replace("whsec_", ""), "base64");
      for (const form of [
        plain,
        bytes.toString("base64"),
        bytes.toString("base64url"),
        bytes.toString("hex"),
      ])
        assert.ok(!text.includes(form.replace(/=$/, "")));
    }

    await shop.owner.query("update events.webhook_subscription set url = $1 where url ~ 'shop.example'", [
      `${receiver.url}/later`,
    ]);
    const [message] = await tell(new Secrets([key]), ["/later"]);
    // After the rotation both sign for a day
    verifySignature(message!, secret);
    verifySignature(message!, rotated);
  });

  it("make no sense in another row", async () => {
    const { rows } = await shop.owner.query(
      "select id, secret from events.webhook_secret order by id limit 2",
    );
    const set = (row: { id: string; secret: string }) =>
      shop.owner.query("update events.webhook_secret set secret = $2 where id = $1", [row.id, row.secret]);
    await set({ id: rows[0].id, secret: rows[1].secret });
    const failed = await keysCommand(["encrypt"], `${nextKey},${key}`);
    await set(rows[0]);
    // The same command undoes what it had done by then
    assert.equal((await keysCommand(["encrypt"], `${key},${nextKey}`)).exitCode, 0);
    assert.equal(failed.exitCode, 1);
    assert.match(
      failed.stderr,
      new RegExp(`events.webhook_secret/${rows[0].id} can't be decrypted: it was changed`),
    );
  });

  it("keep a process from starting that lacks their key, and it says which", async () => {
    const needed = new Secrets([key]).currentKeyId!;
    for (const [SECRETS_KEY, pattern] of [
      ["", /SECRETS_KEY is not set, but the database has encrypted secrets: 1 keys that sign/],
      [nextKey, new RegExp(`SECRETS_KEY \\(${new Secrets([nextKey]).currentKeyId}\\) lacks a key`)],
    ] as const) {
      const { code, output } = await runCommand(["start"], { DATABASE_URL: shop.loginUrl, SECRETS_KEY });
      assert.equal(code, 1, output);
      assert.match(output, pattern);
      assert.match(output, new RegExp(`webhook secrets, with ${needed}\\.`));
      assert.doesNotMatch(output, /\n +at |sealed:/);
      assert.ok(!output.includes(nextKey));
    }
    const wrong = await runCommand(["start"], { DATABASE_URL: shop.loginUrl, SECRETS_KEY: "short" });
    assert.equal(wrong.code, 1);
    assert.match(wrong.output, /SECRETS_KEY: expected 32 bytes in base64/);
    const rotate = await runOn(shop.adminUrl, ["keys", "rotate"], "", { SECRETS_KEY: "" });
    assert.deepEqual([rotate.exitCode, rotate.stdout], [1, ""], "the new key would lie plain");
  });

  it("are encrypted again when the key changes", async () => {
    const process = await having(key);
    const token = await process.tokenFor(await shop.credential());
    const { exitCode, stdout, stderr } = await keysCommand(["encrypt"], `${nextKey},${key}`);
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /1 signing keys, 3 secrets of webhooks and 0 of carriers/);
    const { currentKeyId } = new Secrets([nextKey]);
    for (const { secret } of await stored()) assert.ok(secret.startsWith(`sealed:v1:${currentKeyId}:`));
    assert.equal((await process.ask(token, { query })).status, 200, "who had read the key goes on");
    const later = await having(nextKey);
    assert.equal((await later.ask(token, { query })).status, 200);
    const [message] = await tell(new Secrets([nextKey]), ["/earlier"]);
    verifySignature(message!, earlier.secret);
  });

  it("that one process can't read, another sends with, and nothing is held against the receiver", async () => {
    const log: { msg: string }[] = [];
    const lacking = startTestWebhooks(shop.loginUrl, {
      clock: fast(0.001),
      secrets: new Secrets([newKey()]),
    });
    try {
      await shop.owner.query("update erp.product set reorder_point = 1000 where product_number = 'hammer'");
      await until(() => lacking.log.some(({ msg }) => msg === "webhooks: a secret can't be read"));
    } finally {
      await lacking.stop();
    }
    log.push(...lacking.log);
    assert.doesNotMatch(JSON.stringify(log), /whsec_|sealed:/);
    const { rows } = await shop.owner.query(
      "select health, consecutive_failures as failures from events.webhook_subscription where id = $1",
      [earlier.id],
    );
    assert.deepEqual(rows, [{ health: "HEALTHY", failures: 0 }]);
    const [message] = await tell(new Secrets([nextKey]), ["/earlier"]);
    verifySignature(message!, earlier.secret);
  });

  it("a process that can't read the new signing key says so, and no more", async () => {
    // It has the key of the present one; another process makes a key that it can't read
    const process = await having(nextKey);
    const credentials = await shop.credential();
    const token = await process.tokenFor(credentials);
    const foreign = newKey();
    const rotated = await keysCommand(["encrypt"], `${foreign},${nextKey}`);
    assert.equal(rotated.exitCode, 0, rotated.stderr);
    const { exitCode, stderr } = await keysCommand(["rotate"], `${foreign},${nextKey}`);
    assert.equal(exitCode, 0, stderr);
    const post = () =>
      fetch(`${process.url}/api/oauth/token`, {
        method: "POST",
        body: new URLSearchParams({
          ...{
            grant_type: "client_credentials",
            client_id: credentials.clientId,
            client_secret: credentials.clientSecret,
          },
        }),
      });
    await until(async () => (await post()).status === 503);
    const answer = await post();
    assert.deepEqual([answer.status, (await answer.json()).error], [503, "temporarily_unavailable"]);
    assert.equal((await process.ask(token, { query })).status, 200, "earlier tokens are good");
    const other = await having(foreign);
    const unknown = await process.ask(await other.tokenFor(credentials), { query });
    assert.deepEqual([unknown.status, unknown.codes], [503, ["SERVICE_UNAVAILABLE"]]);
    assert.doesNotMatch(unknown.text, /SECRETS_KEY|sign/);
    const readiness = await fetch(`${process.url}/readyz`);
    const { obstacles } = await readiness.json();
    assert.deepEqual([readiness.status, obstacles[0].code], [503, "SIGNING_KEY_UNREADABLE"]);
  });

  it("can be given up when their key is lost: other ones are made then", async () => {
    const fresh = newKey();
    await assert.rejects(having(fresh), /lacks a key/);
    await shop.owner.query("delete from auth.signing_key");
    await shop.owner.query("delete from events.webhook_secret where auth.secrets_key_id(secret) is not null");
    const process = await having(fresh);
    assert.equal((await process.ask(await process.tokenFor(await shop.credential()), { query })).status, 200);
    const webhooks = startTestWebhooks(shop.loginUrl, { clock: fast(0.001), secrets: new Secrets([fresh]) });
    receiver.received.length = 0;
    try {
      await shop.owner.query("update erp.product set reorder_point = 2000 where product_number = 'hammer'");
      const reason = async () =>
        (
          await shop.owner.query(
            "select health_reason as why from events.webhook_subscription where id = $1",
            [earlier.id],
          )
        ).rows[0].why as string | null;
      await until(async () => (await reason()) === "It has no secret to sign with.");
    } finally {
      await webhooks.stop();
    }
    assert.deepEqual(receiver.received, []);
    const { rows } = await shop.owner.query(
      "select backlog_count > 0 as waits from events.webhook_subscription where id = $1",
      [earlier.id],
    );
    assert.deepEqual(rows, [{ waits: true }]);
  });
});
