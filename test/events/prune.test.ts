import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { useDatabase } from "../lib/database.ts";
import { endOfLog, logAfter, sequence, subscribeToTopic } from "./support.ts";

describe("pruning", () => {
  const used = useDatabase("template_schema");
  const query = async (text: string) => (await used.client.query(text)).rows;
  const prune = async (batch: number) => (await query(`select events.prune(${batch}) as pruned`))[0].pruned;
  const counts = async () =>
    (
      await query(`select (select count(*)::int from events.event) as events, (select count(*)::int from events.delivery) as deliveries,
        (select count(*)::int from events.delivery_attempt) as attempts, (select coalesce(sum(pending), 0)::int from events.delivery_queue) as pending,
        (select backlog_count from events.webhook_subscription) as backlog, (select count(*)::int from events.webhook_secret) as secrets`)
    )[0];

  it("takes what is older than 30 days, in small batches, with all that belongs to it", async () => {
    const id = await subscribeToTopic(used.client, "product.created");
    await query("insert into erp.product (product_number) select 'P' || n from generate_series(1, 10) n");
    await sequence(used.client);
    await query(`insert into events.delivery (subscription_id, event_id, entity_id, state, created_at)
      select '${id}', gen_random_uuid(), '${id}', 'delivered', now() - n * interval '20 days' from generate_series(1, 2) n`);
    await query(
      "insert into events.delivery_attempt (delivery_id, number) select id, 1 from events.delivery",
    );
    await query(`insert into events.webhook_secret (subscription_id, secret, expires_at)
      select '${id}', 'whsec_' || repeat(n::text, 40), now() + (n - 2) * interval '1 hour' from generate_series(1, 3) n where n <> 2`);
    // Delivered, waiting, and given up
    await query("update events.delivery set state = 'failed' where sequence % 5 = 0");
    await query(
      "update events.delivery_queue q set pending = 0 from events.delivery d where d.state = 'failed' and d.entity_id = q.entity_id",
    );
    await query(
      "delete from events.delivery_queue where pending = 0; update events.webhook_subscription set backlog_count = 8",
    );
    await query(
      "update events.event set recorded_at = now() - interval '30 days 1 minute' where sequence <= 7",
    );
    await query(
      "update events.event set recorded_at = now() - interval '29 days 23 hours' where sequence > 7",
    );
    const before = await counts();
    assert.deepEqual(before, {
      events: 10,
      deliveries: 12,
      attempts: 12,
      pending: 8,
      backlog: 8,
      secrets: 2,
    });

    assert.equal(await prune(5), 6, "five events and the old test");
    assert.equal(await prune(5), 2);
    assert.equal(await prune(5), 0);
    assert.deepEqual(await counts(), {
      events: 3,
      deliveries: 4,
      attempts: 4,
      pending: 2,
      backlog: 2,
      secrets: 1,
    });
    assert.deepEqual(
      (await logAfter(used.client)).map((event) => event.sequence),
      [8, 9, 10],
    );
  });

  it("does not restart the numbers when everything is deleted", async () => {
    await query("update events.event set recorded_at = now() - interval '31 days'");
    await prune(100);
    assert.deepEqual(await logAfter(used.client), []);
    assert.equal(await endOfLog(used.client), 10);
    await query("insert into erp.product (product_number) values ('next')");
    await sequence(used.client);
    assert.deepEqual(
      (await logAfter(used.client)).map((event) => event.sequence),
      [11],
    );
  });
});
