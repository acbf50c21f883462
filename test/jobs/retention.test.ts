import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { retentionSettings, retentionRules } from "../../src/jobs/retention-periods.ts";
import { makeTasks } from "../../src/jobs/tasks.ts";
import { settingsByTopic, parseSettings } from "../../src/process/settings.ts";
import { queryRows } from "../lib/database.ts";
import { openShop } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import { until } from "../lib/until.ts";
import { Queue, startTestJobs } from "./support.ts";

let shop: Shop;
let queue: Queue;
before(async () => {
  shop = await openShop();
  queue = new Queue(shop.ownerUrl);
});
after(async () => {
  await queue.owner.end();
  await shop.close();
});
const sql = queryRows(() => shop.owner);
const value = async (expression: string) => (await sql(`select ${expression} as value`))[0].value;

/** Which function of the database has the least of a setting, and its value without one. */
const lifetimes: Record<string, string> = {
  KEEP_EVENTS: "events.lifetime()",
  KEEP_WEBHOOK_ATTEMPTS: "events.attempt_lifetime()",
  KEEP_IDEMPOTENCY_KEYS: "mutation.key_lifetime()",
  KEEP_BULK_RESULTS: "bulk.lifetime()",
  KEEP_USE_COUNTS: "auth.use_lifetime()",
  KEEP_LABEL_FILES: "erp.label_file_lifetime()",
  KEEP_AUDIT: "auth.audit_lifetime()",
};

describe("how long things are kept", () => {
  for (const setting of settingsByTopic.Retention!) {
    const [, least] = /from ([\d,]+) to/.exec(setting.kind.expected)!;
    const days = Number(least!.replace(",", ""));

    test(`${setting.name} is refused below ${days} days, by the start and by the database`, async () => {
      for (const given of [String(days - 1), "0", "-1", "1.5", "for ever"])
        assert.throws(
          () => parseSettings({ [setting.name]: given }),
          new RegExp(`${setting.name}: expected`),
        );
      const lifetime = lifetimes[setting.name]!;
      const inDays = `(extract(epoch from ${lifetime}) / 86400)::float8`;
      assert.equal(await value(inDays), setting.fallback === undefined ? null : Number(setting.fallback));
      const name = Object.keys(retentionSettings(parseSettings({ [setting.name]: String(days) }).keep)).at(
        Object.keys(lifetimes).indexOf(setting.name),
      )!;
      const client = await shop.owner.connect();
      try {
        for (const [given, expected] of [
          ["P1D", days],
          ["P-1D", days],
          [`P${days + 700}D`, days + 700],
        ] as const) {
          await client.query("begin");
          await client.query("select set_config($1, $2, true)", [name, given]);
          const { rows } = await client.query(`select ${inDays} as days`);
          assert.deepEqual(rows, [{ days: expected }]);
          await client.query("rollback");
        }
      } finally {
        client.release();
      }
    });
  }
});

/** Old and young rows of everything, so many of each. */
async function fill(count: number): Promise<void> {
  const credential = await shop.credential();
  const id = (await sql("select id from auth.credential order by created_at desc, id desc limit 1"))[0].id;
  assert.ok(credential);
  await sql(`
    insert into auth.audit_event (id, happened_at, actor, action)
      select uuidv7(m.old), now() + m.old, 'command line', 'plan.changed'
      from generate_series(1, ${count}) n, (values (interval '-399 days'), ('-401 days')) m (old);
    insert into auth.credential_use (credential_id, day, version, deprecated_field, requests, last_used_at)
      select '${id}', current_date - m.days, 'unstable', 'Thing.field' || n, 1, now() - m.days * interval '1 day'
      from generate_series(1, ${count}) n, (values (399), (402)) m (days);
    insert into auth.field_use (credential_id, version, field, last_used_on)
      select '${id}', 'unstable', 'Thing.field' || n || '_' || m.days, current_date - m.days
      from generate_series(1, ${count}) n, (values (399), (402)) m (days);
    insert into mutation.idempotency_key (credential_id, key, request, created_at)
      select '${id}', n || '_' || m.hours, '', now() - m.hours * interval '1 hour'
      from generate_series(1, ${count}) n, (values (23), (25)) m (hours);
    insert into auth.credential (id, name, scopes, expires_at)
      select uuidv7(m.old), 'Ended', '{}', now() + m.old
      from generate_series(1, ${count}) n, (values (interval '-399 days'), ('-401 days')) m (old);
    insert into auth.operation (id, version, document, slowest_ms, slowest_on)
      select n || '_' || m.days, 'unstable', '{ shop }', 1, current_date from generate_series(1, ${count}) n, (values (13), (16)) m (days);
    insert into auth.operation_use (credential_id, day, operation_id, requests, ms, slowest_ms)
      select '${id}', current_date - m.days, n || '_' || m.days, 1, 1, 1
      from generate_series(1, ${count}) n, (values (13), (16)) m (days);
    insert into events.webhook_subscription (topic, url, api_version) values ('stock.changed', 'https://receiver.example', 'unstable');
    insert into events.delivery (id, subscription_id, event_id, entity_id, state, created_at)
      select uuidv7(m.old), s.id, gen_random_uuid(), s.id, 'delivered', now() + m.old
      from events.webhook_subscription s, generate_series(1, ${count}) n, (values (interval '-29 days'), ('-31 days')) m (old);
    insert into events.delivery_attempt (delivery_id, number, at, response_body)
      select id, 1, created_at, 'Thank you' from events.delivery;
    update events.delivery set created_at = now();
    with label as (
      insert into erp.shipping_label (carrier_technical_name, document_url)
        select 'dhl', 'https://labels.example' from generate_series(1, 2 * ${count}) returning id
    )
    insert into erp.shipping_label_file (shipping_label_id, code, content_type, content, created_at)
      select id, gen_random_uuid(), 'application/pdf', '%PDF-', now() - interval '88 days' - row_number() over () % 2 * interval '4 days' from label;
    insert into bulk.operation (credential_id, scopes, kind, state, resource, format, finished_at, expires_at)
      select '${id}', '{}', 'export', 'completed', 'products', 'jsonl', now(), now() + m.hours * interval '1 hour'
      from generate_series(1, ${count}) n, (values (-1), (1)) m (hours)`);
}

const counted = `
  select (select count(*) from auth.audit_event where action = 'plan.changed')::integer as audit,
    (select count(*) from auth.credential_use where deprecated_field <> '')::integer as uses,
    (select count(*) from auth.field_use where field ~ '^Thing')::integer as fields,
    (select count(*) from auth.credential where name = 'Ended')::integer as credentials,
    (select count(*) from mutation.idempotency_key)::integer as keys,
    (select count(*) from auth.operation where document = '{ shop }')::integer as operations,
    (select count(*) from events.delivery_attempt)::integer as attempts,
    (select count(*) from events.delivery)::integer as deliveries,
    (select count(content) from erp.shipping_label_file)::integer as labels,
    (select count(*) from bulk.operation)::integer as bulk`;
const kinds = ["audit", "uses", "fields", "credentials", "keys", "operations", "attempts", "labels", "bulk"];
const all = (count: number) => Object.fromEntries(kinds.map((kind) => [kind, count]));

describe("deleting by age", () => {
  const count = 700;
  const settings = retentionSettings(parseSettings({ KEEP_AUDIT: "400" }).keep);
  const tasks = () => makeTasks({ exchangeRatesFrom: undefined });
  const atStart = retentionRules.map(({ task }) => task);
  before(() => fill(count));

  test("holds up no booking, and another process that does the same finds nothing to do", async () => {
    const client = new pg.Client({ connectionString: shop.ownerUrl });
    await client.connect();
    try {
      await client.query("begin");
      for (const [name, given] of Object.entries(settings))
        await client.query("select set_config($1, $2, true)", [name, given]);
      for (const { prune } of retentionRules)
        if (prune !== "events.prune(500)")
          assert.ok((await client.query(`select ${prune} as n`)).rows[0].n > 0, prune);
      const lines = [shop.line("hammer", "A-1", { delta: 1 })];
      const { userErrors } = await shop.mutate("stockAdjust", { lines, idempotencyKey: "25 hours later" });
      assert.deepEqual(userErrors, []);
      await sql("set lock_timeout = '5s'");
      for (const prune of ["events.prune_attempts(500)", "bulk.prune()"])
        assert.equal(await value(`${prune}`), 0, prune);
    } finally {
      await client.query("rollback");
      await client.end();
    }
  });

  test("goes on where it was after its processes were killed, and deletes nothing younger", async () => {
    const [one, other] = [1, 2].map(() =>
      startTestJobs(shop.loginUrl, tasks(), { session: settings, atStart, concurrency: 4 }),
    );
    try {
      const begun = async () => (await sql(counted))[0].audit < 2 * count;
      await until(begun);
      await queue.cutConnections(shop.adminUrl);
      await until(async () => {
        const { deliveries, ...left } = (await sql(counted))[0];
        // Jobs of killed processes come back after hours; the hourly ones of others don't wait for them
        await sql(
          "select graphile_worker.add_job(task, '{}', job_key => task) from unnest($1::text[]) task",
          [atStart],
        );
        return kinds.every((kind) => left[kind] <= count + 1) && deliveries > 0;
      });
    } finally {
      await Promise.all([one!.stop(), other!.stop()]);
      await queue.clear();
    }
    const { deliveries, keys, ...left } = (await sql(counted))[0];
    assert.deepEqual({ ...left, keys: count }, all(count));
    assert.equal(deliveries, 2 * count, "the deliveries themselves are as old as their events");
    assert.ok(keys >= count);
    assert.ok(one!.log.concat(other!.log).some(({ pruned: told }) => told?.rows > 0));
  });

  test("the audit is deleted by its age alone, and without the setting never", async () => {
    await assert.rejects(sql("delete from auth.audit_event"), /deleted only by age/);
    await assert.rejects(
      sql("delete from auth.audit_event where happened_at < now() - interval '399 days'"),
      /only by age/,
    );
    await assert.rejects(sql("update auth.audit_event set subject = 'other'"), /never changed/);
    assert.equal(await value("auth.prune_audit(10)"), 0);
  });
});

test("a token that has ended goes with its keys and counts, not before those, nor while a webhook names it", async () => {
  const { clientId } = await shop.credential();
  const ends = (days: number) =>
    sql(`update auth.credential c set expires_at = now() - interval '${days} days' from auth.credential_secret s
      where s.credential_id = c.id and s.access_key = '${clientId}' returning c.id, c.name`);
  const [{ id, name }] = await ends(399);
  await sql(`select auth.note_event('credential.limited', '${name}', '${id}')`);
  await sql(`insert into auth.credential_use (credential_id, day, version, deprecated_field, requests, last_used_at)
    values ('${id}', current_date - 401, 'unstable', '', 1, now() - interval '401 days')`);
  const webhook = (
    await sql(`insert into events.webhook_subscription (topic, url, api_version, credential_id)
      values ('stock.changed', 'https://receiver.example', 'unstable', '${id}') returning id`)
  )[0].id;
  const left = async () => {
    await value("auth.prune_credentials(10)");
    return value(`(select count(*)::int from auth.credential where id = '${id}')
      + (select count(*)::int from auth.credential_secret where credential_id = '${id}')`);
  };
  assert.equal(await left(), 2, "it is too young");
  await ends(401);
  assert.equal(await left(), 2, "a webhook names it");
  await sql(`delete from events.webhook_subscription where id = '${webhook}'`);
  assert.equal(await left(), 0);
  assert.equal(
    await value(
      `(select subject from auth.audit_event where credential_id = '${id}' order by id desc limit 1)`,
    ),
    name,
  );
  assert.equal(await value(`auth.prune_credentials(10)`), 0);
});

test("an idempotency key stands for a day, or as long as set", async () => {
  const lines = [shop.line("nail", "A-1", { delta: 1 })];
  const input = { lines, idempotencyKey: "a day" };
  const booked = async (process?: Pick<Shop, "ask">) => {
    const { stockMovements } = await shop.mutate("stockAdjust", input, process ? { process } : {});
    return stockMovements[0].id;
  };
  const age = () =>
    sql("update mutation.idempotency_key set created_at = now() - interval '25 hours' where key = 'a day'");
  const first = await booked();
  assert.equal(await booked(), first);
  await age();
  const second = await booked();
  assert.notEqual(second, first);
  await age();
  const name = await value("current_database()");
  const admin = new pg.Client({ connectionString: shop.adminUrl });
  await admin.connect();
  await admin.query(`alter database ${name} set service.keep_idempotency_keys = 'P3D'`);
  await admin.end();
  const patient = await shop.another();
  assert.equal(await booked(patient), second);
});
