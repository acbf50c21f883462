import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { queryRows } from "../lib/database.ts";
import { missingId, uuidOf } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop, refusals } from "../lib/shop.ts";
import { deliveriesOf, endOfLog, sequence } from "./support.ts";

describe("mutations of webhooks", () => {
  let shop: Shop;
  before(async () => {
    shop = await openShop({ versions });
  });
  after(() => shop.close());

  const fields =
    "webhookSubscription { id topic url apiVersion fields payloadQuery enabled health healthReason backlogCount }";
  const input = {
    topic: "product.updated",
    url: "https://shop.example/hook",
    apiVersion: "2026-06-unstable",
  };
  const call = (name: string, given: object, select = fields, options = {}) =>
    shop.mutate(name, given, { select, ...options });
  const create = (given: object = {}, options = {}) =>
    call("webhookSubscriptionCreate", { ...input, ...given }, `secret ${fields}`, options);
  const subscribe = async (given: object = {}, options = {}): Promise<string> => {
    const { userErrors, webhookSubscription } = await create(given, options);
    assert.deepEqual(userErrors, []);
    return webhookSubscription.id;
  };
  const rows = (text: string, ...values: unknown[]) => queryRows(() => shop.owner)(text, values);
  const secretsOf = (id: string) =>
    rows(
      "select secret, expires_at from events.webhook_secret where subscription_id = $1 order by expires_at",
      uuidOf(id),
    );
  const happen = async (count = 1) => {
    for (let n = 0; n < count; n++)
      await shop.owner.query(
        "update erp.product set reorder_point = coalesce(reorder_point, 0) + 1 where product_number = 'hammer'",
      );
    await sequence(shop.owner);
  };
  /** As the sender does when the receiver has accepted everything. */
  const deliverAll = (id: string, state = "delivered") =>
    shop.owner.query(
      `with done as (update events.delivery set state = $2, attempts = 1 where subscription_id = $1 and state = 'pending'),
       gone as (delete from events.delivery_queue where subscription_id = $1)
       update events.webhook_subscription set backlog_count = 0 where id = $1`,
      [uuidOf(id), state],
    );

  describe("webhookSubscriptionCreate", () => {
    it("subscribes, and shows the secret that deliveries are signed with", async () => {
      const { secret, webhookSubscription, userErrors } = await create({
        fields: ["name"],
        payloadQuery: "{ __typename }",
      });
      assert.deepEqual(userErrors, []);
      const { id, ...others } = webhookSubscription;
      assert.deepEqual(others, {
        ...{ ...input, fields: ["name"], payloadQuery: "{ __typename }", enabled: true },
        ...{ health: "HEALTHY", healthReason: null, backlogCount: 0 },
      });
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      assert.equal(Buffer.from(secret.slice(6), "base64").length, 32);
      assert.deepEqual(await secretsOf(id), [{ secret, expires_at: null }]);
      const { secret: other } = await create();
      assert.notEqual(other, secret);
    });

    it("keeps the secret out of what an idempotency key remembers", async () => {
      const given = { idempotencyKey: "once", url: "https://shop.example/once" };
      const first = await create(given);
      assert.match(first.secret, /^whsec_/);
      const again = await create(given);
      assert.deepEqual(again, { ...first, secret: null });
      const [{ text }] = await rows(
        "select string_agg(k::text, ' ') as text from mutation.idempotency_key k",
      );
      assert.ok(text.includes(uuidOf(first.webhookSubscription.id)));
      assert.ok(!text.includes("whsec_") && !text.includes(first.secret.slice(6, 20)));
    });

    it("leaves no trace of the secret in the log of the service", async () => {
      const { secret } = await create();
      assert.ok(!JSON.stringify(shop.log).includes(secret.slice(6)));
    });

    it("needs the scope that reads what the topic is about", async () => {
      const token = await shop.token({ read: ["products"], write: ["webhook_subscriptions"] });
      assert.deepEqual((await create({}, { token })).userErrors, []);
      const refused = await create({ topic: "order.created" }, { token });
      assert.deepEqual(refusals(refused), [["SCOPE_MISSING", "topic"]]);
      assert.deepEqual(refused.userErrors[0].details, { scope: "orders:read" });
      assert.equal(refused.secret, null);
      const narrow = await shop.token({ read: "all", write: ["products"] });
      const { codes } = await shop.tryMutate("webhookSubscriptionCreate", input, { token: narrow });
      assert.deepEqual(codes, ["FORBIDDEN"]);
    });

    for (const [given, code, field] of [
      [{ topic: "order.exploded" }, "INVALID", "topic"],
      [{ topic: "webhook_subscription.test" }, "INVALID", "topic"],
      [{ apiVersion: "2019-01" }, "INVALID", "apiVersion"],
      [{ apiVersion: "meta" }, "INVALID", "apiVersion"],
      [{ fields: [] }, "INVALID", "fields"],
      [{ fields: ["name", "product_number"] }, "INVALID", "fields"],
      [{ topic: "product.created", fields: ["name"] }, "INVALID", "fields"],
      [{ payloadQuery: " \n" }, "INVALID", "payloadQuery"],
      [{ payloadQuery: `{ ${"a".repeat(10_000)} }` }, "OUT_OF_RANGE", "payloadQuery"],
      [{ url: "ftp://shop.example/" }, "INVALID", "url"],
      [{ url: "https://" }, "INVALID", "url"],
      [{ url: "shop.example" }, "INVALID", "url"],
      [{ url: "https://shop.example/a b" }, "INVALID", "url"],
      [{ url: "https://shop.example:99999/" }, "INVALID", "url"],
      [{ url: "https://shop.example/#there" }, "INVALID", "url"],
      [{ url: `https://shop.example/${"a".repeat(2_000)}` }, "OUT_OF_RANGE", "url"],
    ] as const) {
      it(`refuses ${JSON.stringify(given).slice(0, 70)}`, async () => {
        const payload = await create(given);
        assert.deepEqual(refusals(payload), [[code, field]]);
        assert.deepEqual([payload.secret, payload.webhookSubscription], [null, null]);
      });
    }

    it("lists the topics when there is none of that name", async () => {
      const { userErrors } = await create({ topic: "order.exploded" });
      const [{ message, details }] = userErrors;
      assert.match(message, /^There is no such topic\. There are: batch\.created, .*stock\.changed/);
      assert.ok(details.topics.includes("order.created"));
      assert.ok(!details.topics.includes("webhook_subscription.test"));
    });

    for (const host of [
      ...[
        "localhost",
        "LOCALHOST:8080",
        "a.localhost",
        "printer.local",
        "db.internal",
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
      ],
      ...[
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
      ],
      ...[
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fd00::1]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::a00:1]",
        "[2002:a00:1::]",
        "[ff02::1]",
      ],
      ...["999.1.1.1", "[1:2]", "127.0.0.1.", "user@shop.example", "user:word@10.0.0.1"],
    ]) {
      it(`refuses the host ${host}`, async () => {
        const [[code, field]] = refusals(await create({ url: `http://${host}/hook` })) as [[string, string]];
        assert.equal(field, "url");
        assert.ok(["URL_FORBIDDEN", ...(host.includes("@") ? ["INVALID"] : [])].includes(code), code);
      });
    }

    for (const host of [
      "shop.example",
      "8.8.8.8",
      "[2606:4700::1111]:443",
      "xn--bcher-kva.example",
      "a_b.shop.example:80",
      "10.example",
    ]) {
      it(`takes the host ${host}`, async () => {
        assert.deepEqual((await create({ url: `https://${host}/hook?x=1` })).userErrors, []);
      });
    }
  });

  describe("webhookSubscriptionUpdate", () => {
    it("changes what it names, and empties what is null", async () => {
      const id = await subscribe({ fields: ["name"], payloadQuery: "{ __typename }" });
      const changed = await call("webhookSubscriptionUpdate", {
        id,
        url: "https://other.example/",
        fields: ["gtin", "name"],
      });
      assert.deepEqual(changed.userErrors, []);
      const { url, fields, payloadQuery } = changed.webhookSubscription;
      assert.deepEqual(
        { url, fields, payloadQuery },
        { url: "https://other.example/", fields: ["gtin", "name"], payloadQuery: "{ __typename }" },
      );
      const emptied = (await call("webhookSubscriptionUpdate", { id, fields: null, payloadQuery: null }))
        .webhookSubscription;
      assert.deepEqual([emptied.fields, emptied.payloadQuery], [null, null]);
    });

    it("checks as creating does", async () => {
      const id = await subscribe();
      const refused = async (given: object) =>
        refusals(await call("webhookSubscriptionUpdate", { id, ...given }));
      assert.deepEqual(await refused({ url: "http://10.0.0.1/" }), [["URL_FORBIDDEN", "url"]]);
      assert.deepEqual(await refused({ url: "https://shop.example:5432/" }), [["URL_FORBIDDEN", "url"]]);
      assert.deepEqual(await refused({ url: null }), [["REQUIRED", "url"]]);
      assert.deepEqual(await refused({ apiVersion: null }), [["INVALID", "apiVersion"]]);
      assert.deepEqual(await refused({ enabled: null }), [["REQUIRED", "enabled"]]);
      assert.deepEqual(await refused({ fields: ["nothing"] }), [["INVALID", "fields"]]);
      assert.deepEqual(await refused({ id: missingId("WebhookSubscription") }), [["NOT_FOUND", "id"]]);
    });

    it("does not let somebody have sent what only another credential may read", async () => {
      const id = await subscribe({ topic: "order.created" });
      const token = await shop.token({
        read: ["products"],
        write: ["webhook_subscriptions", "all_webhook_subscriptions"],
      });
      for (const [name, rest] of [
        ["webhookSubscriptionUpdate", { url: "https://mine.example/" }],
        ["webhookSubscriptionEnable", {}],
        ["webhookSubscriptionRotateSecret", {}],
        ["webhookSubscriptionTest", {}],
        ["webhookDeliveriesReplay", { fromSequence: 1 }],
      ] as const)
        assert.deepEqual(
          refusals(await call(name, { id, ...rest }, "", { token })),
          [["SCOPE_MISSING", "id"]],
          name,
        );
      const [{ url }] = await rows("select url from events.webhook_subscription where id = $1", uuidOf(id));
      assert.equal(url, input.url);
    });

    it("makes a subscription belong to the client that changes it", async () => {
      const id = await subscribe({ topic: "product.updated" });
      const scopes = async () =>
        (await rows("select events.scopes_of_subscription($1) as scopes", uuidOf(id)))[0].scopes;
      assert.ok((await scopes()).includes("customers:read"));
      const token = await shop.token({
        read: ["products"],
        write: ["webhook_subscriptions", "all_webhook_subscriptions"],
      });
      assert.deepEqual(
        (await call("webhookSubscriptionUpdate", { id, payloadQuery: "{ __typename }" }, fields, { token }))
          .userErrors,
        [],
      );
      assert.deepEqual((await scopes()).sort(), [
        "all_webhook_subscriptions:read",
        "all_webhook_subscriptions:write",
        "products:read",
        "webhook_subscriptions:read",
        "webhook_subscriptions:write",
      ]);
    });

    it("stops a subscription, and resumes it with the waiting messages", async () => {
      const id = await subscribe();
      await happen();
      const stopped = await call("webhookSubscriptionUpdate", { id, enabled: false });
      const { enabled, health, healthReason, backlogCount } = stopped.webhookSubscription;
      assert.deepEqual([enabled, health, backlogCount], [false, "DISABLED", 1]);
      assert.match(healthReason, /disabled/);
      const due = async () =>
        (
          await rows(
            "select due_at <= now() as due from events.delivery_queue where subscription_id = $1",
            uuidOf(id),
          )
        ).map(({ due }) => due);
      assert.deepEqual(await due(), [false]);
      await happen();
      assert.equal(
        (await deliveriesOf(shop.owner, uuidOf(id))).length,
        1,
        "what happens meanwhile is not meant for it",
      );
      const again = await call("webhookSubscriptionUpdate", { id, enabled: true });
      assert.deepEqual(
        [again.webhookSubscription.enabled, again.webhookSubscription.health],
        [true, "HEALTHY"],
      );
      assert.deepEqual(await due(), [true]);
      await happen();
      const [first, second] = await deliveriesOf(shop.owner, uuidOf(id));
      assert.deepEqual([second.previous, second.sequence], [first.sequence, first.sequence + 2]);
    });
  });

  describe("webhookSubscriptionEnable", () => {
    it("forgets troubles and tries what waits at once", async () => {
      const id = await subscribe();
      await happen();
      await shop.owner.query(
        `update events.webhook_subscription set health = 'SUSPENDED', health_reason = 'x', failing_since = now(), consecutive_failures = 9,
           next_probe_at = 'infinity' where id = $1`,
        [uuidOf(id)],
      );
      await shop.owner.query(
        "update events.delivery_queue set next_attempt_at = 'infinity', attempts = 5 where subscription_id = $1",
        [uuidOf(id)],
      );
      const { webhookSubscription } = await call("webhookSubscriptionEnable", { id });
      assert.deepEqual([webhookSubscription.health, webhookSubscription.healthReason], ["HEALTHY", null]);
      assert.deepEqual(
        await rows(
          `select s.failing_since, s.consecutive_failures, s.next_probe_at, q.attempts, q.due_at <= now() as due
           from events.webhook_subscription s join events.delivery_queue q on q.subscription_id = s.id where s.id = $1`,
          uuidOf(id),
        ),
        [{ failing_since: null, consecutive_failures: 0, next_probe_at: null, attempts: 0, due: true }],
      );
    });
  });

  describe("webhookSubscriptionRotateSecret", () => {
    it("gives a new secret, and lets the old one sign for a day", async () => {
      const { secret: old, webhookSubscription } = await create();
      const { id } = webhookSubscription;
      const { secret, userErrors } = await call(
        "webhookSubscriptionRotateSecret",
        { id, idempotencyKey: "turn" },
        "secret",
      );
      assert.deepEqual(userErrors, []);
      assert.match(secret, /^whsec_/);
      assert.notEqual(secret, old);
      const [first, second] = await secretsOf(id);
      assert.deepEqual([first.secret, second.secret, second.expires_at], [old, secret, null]);
      const [{ hours }] = await rows(
        "select round(extract(epoch from expires_at - now()) / 3600)::int as hours from events.webhook_secret where subscription_id = $1 and expires_at is not null",
        uuidOf(id),
      );
      assert.equal(hours, 24);
      assert.equal(
        (await call("webhookSubscriptionRotateSecret", { id, idempotencyKey: "turn" }, "secret")).secret,
        null,
      );
      assert.equal((await secretsOf(id)).length, 2, "repeated, it is not turned again");
    });
  });

  describe("webhookSubscriptionDelete", () => {
    it("deletes it with everything that belongs to it", async () => {
      const id = await subscribe();
      await happen();
      const { deletedWebhookSubscriptionId } = await call(
        "webhookSubscriptionDelete",
        { id },
        "deletedWebhookSubscriptionId",
      );
      assert.equal(deletedWebhookSubscriptionId, id);
      for (const table of ["delivery", "delivery_queue", "webhook_secret"])
        assert.deepEqual(
          await rows(`select from events.${table} where subscription_id = $1`, uuidOf(id)),
          [],
          table,
        );
      assert.deepEqual(refusals(await call("webhookSubscriptionDelete", { id }, "")), [["NOT_FOUND", "id"]]);
      await happen();
    });
  });

  describe("webhookSubscriptionTest and webhookDeliveryRetry", () => {
    it("queue a test, which has no sequence", async () => {
      const id = await subscribe();
      const { webhookDeliveryId } = await call("webhookSubscriptionTest", { id }, "webhookDeliveryId");
      assert.match(webhookDeliveryId, /^gid:\/\/service\/WebhookDelivery\//);
      assert.deepEqual(await deliveriesOf(shop.owner, uuidOf(id)), [
        { sequence: null, previous: null, state: "pending" },
      ]);
      await happen();
      const [, first] = await deliveriesOf(shop.owner, uuidOf(id));
      assert.equal(first.previous, null, "a test leaves no gap");
    });

    it("send again what was delivered, failed or waits", async () => {
      const id = await subscribe();
      await happen();
      const [{ id: delivery }] = await rows(
        "select id from events.delivery where subscription_id = $1",
        uuidOf(id),
      );
      const retry = () =>
        call(
          "webhookDeliveryRetry",
          { id: `gid://service/WebhookDelivery/${delivery}` },
          "webhookDeliveryId",
        );
      const queues = () =>
        rows(
          "select pending, attempts, due_at <= now() as due from events.delivery_queue where subscription_id = $1",
          uuidOf(id),
        );
      for (const state of ["delivered", "failed", "cancelled"]) {
        await deliverAll(id, state);
        assert.deepEqual(await queues(), []);
        assert.deepEqual((await retry()).userErrors, []);
        assert.deepEqual(await queues(), [{ pending: 1, attempts: 0, due: true }], state);
      }
      await shop.owner.query(
        "update events.delivery_queue set attempts = 3, next_attempt_at = now() + interval '1 hour' where subscription_id = $1",
        [uuidOf(id)],
      );
      await retry();
      assert.deepEqual(await queues(), [{ pending: 1, attempts: 0, due: true }]);
      const [{ backlog_count }] = await rows(
        "select backlog_count from events.webhook_subscription where id = $1",
        uuidOf(id),
      );
      assert.equal(backlog_count, 1);
      const gone = await call(
        "webhookDeliveryRetry",
        { id: missingId("WebhookDelivery") },
        "webhookDeliveryId",
      );
      assert.deepEqual(refusals(gone), [["NOT_FOUND", "id"]]);
    });

    it("send nothing for who is disabled", async () => {
      const id = await subscribe();
      await happen();
      const [{ id: delivery }] = await rows(
        "select id from events.delivery where subscription_id = $1",
        uuidOf(id),
      );
      await call("webhookSubscriptionUpdate", { id, enabled: false });
      for (const [name, given] of [
        ["webhookSubscriptionTest", { id }],
        ["webhookDeliveryRetry", { id: `gid://service/WebhookDelivery/${delivery}` }],
        ["webhookDeliveriesReplay", { id, fromSequence: 1 }],
      ] as const) {
        const payload = await call(name, given, "");
        assert.deepEqual(refusals(payload), [["INVALID_STATE_TRANSITION", "id"]], name);
        assert.deepEqual(payload.userErrors[0].details, { state: "DISABLED", allowedActions: ["enable"] });
      }
    });
  });

  describe("webhookDeliveriesReplay", () => {
    const replay = (given: object) =>
      call("webhookDeliveriesReplay", given, `replayedCount webhookSubscription { backlogCount }`);

    it("sends a part of the log again, or for the first time", async () => {
      await happen();
      const start = await endOfLog(shop.owner);
      await happen(3);
      const id = await subscribe();
      await happen(2);
      await deliverAll(id);
      const states = async () =>
        (await deliveriesOf(shop.owner, uuidOf(id))).map(({ sequence, previous, state }) => [
          sequence - start,
          previous && previous - start,
          state,
        ]);
      assert.deepEqual(await states(), [
        [4, null, "delivered"],
        [5, 4, "delivered"],
      ]);
      const missed = await replay({ id, fromSequence: start + 1, onlyUndelivered: true });
      assert.deepEqual(missed, {
        replayedCount: 3,
        webhookSubscription: { backlogCount: 3 },
        userErrors: [],
      });
      assert.deepEqual(await states(), [
        [1, null, "pending"],
        [2, 1, "pending"],
        [3, 2, "pending"],
        [4, null, "delivered"],
        [5, 4, "delivered"],
      ]);
      assert.equal(
        (await replay({ id, fromSequence: start + 3, toSequence: start + 4 })).replayedCount,
        1,
        "what waits is not sent twice",
      );
      assert.deepEqual(
        (await states()).map(([, , state]) => state),
        ["pending", "pending", "pending", "pending", "delivered"],
      );
      assert.deepEqual(
        await rows("select pending from events.delivery_queue where subscription_id = $1", uuidOf(id)),
        [{ pending: 4 }],
      );
    });

    it("takes times, and only what the subscription is about", async () => {
      const id = await subscribe({ fields: ["name"] });
      await happen(2);
      await shop.owner.query(
        "update erp.product set name = 'Nails' || random() where product_number = 'nail'",
      );
      await sequence(shop.owner);
      await deliverAll(id);
      const end = await endOfLog(shop.owner);
      await shop.owner.query(
        "update events.event set occurred_at = now() - interval '2 days' where sequence = $1",
        [end],
      );
      const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();
      const count = async (fromTime: string, toTime?: string) =>
        (await replay({ id, fromTime, toTime })).replayedCount;
      assert.equal(await count(days(1)), 0);
      assert.equal(await count(days(3), days(2.5)), 0);
      assert.equal(await count(days(3), days(1)), 1);
    });

    it("wants a beginning, and one end", async () => {
      const id = await subscribe();
      assert.deepEqual(refusals(await replay({ id })), [["REQUIRED", "fromSequence"]]);
      const two = { toSequence: 5, toTime: "2030-01-01T00:00:00Z" };
      assert.deepEqual(refusals(await replay({ id, fromSequence: 1, ...two })), [["INVALID", "toSequence"]]);
      assert.equal((await replay({ id, fromSequence: 1e300 })).replayedCount, 0);
      assert.equal((await replay({ id, fromSequence: -1.5, toSequence: 0.5 })).replayedCount, 0);
    });

    it("takes at most 10,000 events, and says where to end", async () => {
      const id = await subscribe({ topic: "batch.created" });
      const start = await endOfLog(shop.owner);
      await shop.owner.query(
        "insert into erp.batch (product_id, number) select p.id, 'b' || n from erp.product p, generate_series(1, 10001) n where p.product_number = 'nail'",
      );
      await sequence(shop.owner);
      await deliverAll(id);
      const refused = await replay({ id, fromSequence: start + 1 });
      assert.deepEqual(refusals(refused), [["OUT_OF_RANGE", "toSequence"]]);
      const { maximum, lastSequence } = refused.userErrors[0].details;
      assert.deepEqual([maximum, lastSequence], [10_000, start + 10_000]);
      assert.equal(
        (await replay({ id, fromSequence: start + 1, toSequence: lastSequence })).replayedCount,
        10_000,
      );
    });
  });

  it("are in both versions", async () => {
    const options = { version: "2026-06-unstable" };
    const id = await subscribe({}, options);
    assert.match(
      (await call("webhookSubscriptionRotateSecret", { id }, "secret", options)).secret,
      /^whsec_/,
    );
    await happen();
    assert.equal(
      (await call("webhookDeliveriesReplay", { id, fromSequence: 1 }, "replayedCount", options)).userErrors
        .length,
      0,
    );
    const [{ id: delivery }] = await rows(
      "select id from events.delivery where subscription_id = $1 limit 1",
      uuidOf(id),
    );
    const { webhookDeliveryId } = await call(
      "webhookDeliveryRetry",
      { id: `gid://service/WebhookDelivery/${delivery}` },
      "webhookDeliveryId",
      options,
    );
    assert.equal(webhookDeliveryId, `gid://service/WebhookDelivery/${delivery}`);
    assert.equal(
      (await call("webhookSubscriptionDelete", { id }, "deletedWebhookSubscriptionId", options))
        .deletedWebhookSubscriptionId,
      id,
    );
  });

  it("show in unstable how deliveries went", async () => {
    const id = await subscribe();
    await happen();
    await shop.owner.query(
      `insert into events.delivery_attempt (delivery_id, number, duration_ms, status, error, response_headers, response_body)
       select id, n, 7, 503, 'It said 503.', '{"server": "x"}', 'no' from events.delivery, generate_series(1, 2) n where subscription_id = $1`,
      [uuidOf(id)],
    );
    const query = `query ($id: ID!) { webhookSubscription(id: $id) { backlogCount lastSequence deliveries(filter: { state: { equals: pending } }) { edges { node {
      state attempts sequence event { topic sequence } history { number durationMs status error responseHeaders responseBody } } } } } }`;
    const ask = async (read: string[]) =>
      shop.ask(await shop.token({ read: [...read, "all_webhook_subscriptions"] }), {
        query,
        variables: { id },
      });
    const { body, text } = await ask(["webhook_subscriptions", "products"]);
    assert.equal(body.errors, undefined, text);
    const { deliveries, ...subscription } = body.data.webhookSubscription;
    const last = await endOfLog(shop.owner);
    assert.deepEqual(subscription, { backlogCount: 1, lastSequence: last });
    const attempt = {
      durationMs: 7,
      status: 503,
      error: "It said 503.",
      responseHeaders: { server: "x" },
      responseBody: "no",
    };
    assert.deepEqual(deliveries.edges, [
      {
        node: {
          state: "pending",
          attempts: 0,
          sequence: last,
          event: { topic: "product.updated", sequence: last },
          history: [
            { number: 1, ...attempt },
            { number: 2, ...attempt },
          ],
        },
      },
    ]);
    const blind = await ask(["webhook_subscriptions", "orders"]);
    assert.equal(
      blind.body.data.webhookSubscription.deliveries.edges[0].node.event,
      null,
      "the event itself needs the scope of its subject",
    );
  });

  describe("of another credential", () => {
    const list =
      "{ webhookSubscriptions(first: 250) { edges { node { id deliveries { edges { node { history { number } } } } } } } }";
    const idsIn = async (token: string, version: string) => {
      const { body } = await shop.ask(token, { query: list }, { version });
      assert.equal(body.errors, undefined, JSON.stringify(body));
      return body.data.webhookSubscriptions.edges.map(({ node }: any) => node.id);
    };
    const changes = (id: string, delivery: string) =>
      [
        ["webhookSubscriptionUpdate", { id, url: "https://mine.example/" }],
        ["webhookSubscriptionEnable", { id }],
        ["webhookSubscriptionRotateSecret", { id }],
        ["webhookSubscriptionTest", { id }],
        ["webhookDeliveriesReplay", { id, fromSequence: 1 }],
        ["webhookDeliveryRetry", { id: `gid://service/WebhookDelivery/${delivery}` }],
        ["webhookSubscriptionDelete", { id }],
      ] as const;

    it("are neither seen nor changed, in each version", async () => {
      const id = await subscribe();
      await happen();
      const [{ id: delivery }] = await rows(
        "select id from events.delivery where subscription_id = $1",
        uuidOf(id),
      );
      const token = await shop.token({ read: ["products"], write: ["webhook_subscriptions"] });
      const own = await subscribe({}, { token });
      for (const { slug: version } of versions) {
        if (version === "unstable") assert.deepEqual(await idsIn(token, version), [own]);
        const query = "query ($id: ID!) { webhookSubscription(id: $id) { id } }";
        const { body } = await shop.ask(token, { query, variables: { id } }, { version });
        assert.deepEqual(body.data, { webhookSubscription: null }, version);
        for (const [name, given] of changes(id, delivery))
          assert.deepEqual(
            refusals(await call(name, given, "", { token, version })),
            [["NOT_FOUND", "id"]],
            `${name} ${version}`,
          );
      }
      const [{ url }] = await rows("select url from events.webhook_subscription where id = $1", uuidOf(id));
      assert.equal(url, input.url);
    });

    it("are with the scope for all, also those of administrators and of credentials that are gone", async () => {
      const gone = await shop.credential({ read: ["products"], write: ["webhook_subscriptions"] });
      const left = await subscribe({}, { token: await shop.tokenFor(gone) });
      await shop.owner.query("select auth.delete_credential($1)", [gone.id]);
      const [made] = await rows(
        `insert into events.webhook_subscription (topic, url, api_version)
         values ('product.updated', 'https://shop.example/', 'unstable') returning id`,
      );
      await happen();
      const [{ id: delivery }] = await rows(
        "select id from events.delivery where subscription_id = $1",
        made.id,
      );
      const one = await shop.token({ read: ["products"], write: ["webhook_subscriptions"] });
      assert.deepEqual(await idsIn(one, "unstable"), []);
      const reader = await shop.token({ read: ["all_webhook_subscriptions", "webhook_subscriptions"] });
      const seen = await idsIn(reader, "unstable");
      const id = `gid://service/WebhookSubscription/${made.id}`;
      assert.ok(seen.includes(left) && seen.includes(id));
      const token = await shop.token({
        read: ["products"],
        write: ["webhook_subscriptions", "all_webhook_subscriptions"],
      });
      for (const [name, given] of changes(id, delivery))
        assert.deepEqual(refusals(await call(name, given, "", { token })), [], name);
    });
  });

  it("find out whether a credential may still be told", async () => {
    const credentials = await shop.credential({ read: ["products"], write: ["webhook_subscriptions"] });
    const token = await shop.tokenFor(credentials);
    const id = await subscribe({}, { token });
    const scopes = async () =>
      (await rows("select events.scopes_of_subscription($1) as scopes", uuidOf(id)))[0].scopes;
    const credential = (
      await rows("select credential_id as id from events.webhook_subscription where id = $1", uuidOf(id))
    )[0].id;
    assert.ok((await scopes()).includes("products:read"));
    await shop.owner.query(
      "update auth.credential set scopes = array_remove(scopes, 'products:read') where id = $1",
      [credential],
    );
    assert.equal(await scopes(), null);
    await shop.owner.query(
      "update auth.credential set scopes = array_append(scopes, 'products:read') where id = $1",
      [credential],
    );
    assert.ok(await scopes());
    await shop.owner.query("select auth.deactivate_credential($1)", [credential]);
    assert.equal(await scopes(), null);
    await shop.owner.query("select auth.delete_credential($1)", [credential]);
    assert.equal(await scopes(), null);
  });
});
