import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { defaultWebhookLimits } from "../../src/webhooks/webhook-limits.ts";
import { assertRefused, useBench } from "../mutations/support.ts";

const webhookLimits = { ...defaultWebhookLimits, maxSubscriptionsPerToken: 3, maxSubscriptions: 6 };

describe("the maximum of subscriptions", () => {
  const bench = useBench({ versions, settings: { explorer: false, webhookLimits } });
  beforeEach(() => bench.empty("events.webhook_subscription"));
  const input = { topic: "product.created", url: "https://shop.example/hook", apiVersion: "unstable" };
  const create = (options: { token?: string; version?: string } = {}) =>
    bench.mutate("webhookSubscriptionCreate", input, "webhookSubscription { id }", options);
  const token = (name: string) =>
    bench.service.token({
      name,
      read: ["products"],
      write: ["webhook_subscriptions", "all_webhook_subscriptions"],
    });
  const insert = (count: number, credential: string | null = null, settings = "select 1") =>
    bench.rows(
      `${settings}; insert into events.webhook_subscription (topic, url, api_version, credential_id)
       select 'order.created', 'https://shop.example/', 'unstable', ${credential === null ? "null" : `'${credential}'`}
       from generate_series(1, ${count})`,
    );

  it("holds for one token, also when it takes over what others made", async () => {
    const first = await token("first");
    for (let n = 0; n < 3; n++) assert.deepEqual((await create({ token: first })).userErrors, []);
    assert.deepEqual(assertRefused(await create({ token: first }), "TOO_MANY_SUBSCRIPTIONS", null), {
      maximum: 3,
    });
    const second = await token("second");
    const { webhookSubscription } = await create({ token: second });
    const update = (by: string) =>
      bench.mutate(
        "webhookSubscriptionUpdate",
        { id: webhookSubscription.id, url: "https://shop.example/new" },
        "webhookSubscription { id }",
        { token: by },
      );
    assertRefused(await update(first), "TOO_MANY_SUBSCRIPTIONS", null);
    assert.deepEqual((await update(second)).userErrors, []);
    const enabled = await bench.mutate(
      ...([
        "webhookSubscriptionEnable",
        { id: webhookSubscription.id },
        "webhookSubscription { id }",
      ] as const),
      { token: first },
    );
    assertRefused(enabled, "TOO_MANY_SUBSCRIPTIONS", null);
  });

  it("holds in all, and for what administrators make by SQL", async () => {
    await insert(6);
    assert.deepEqual(assertRefused(await create(), "TOO_MANY_SUBSCRIPTIONS", null), { maximum: 6 });
    await bench.empty("events.webhook_subscription");
    await insert(994);
    await assert.rejects(insert(7), /There are 1000 webhook subscriptions; more are not allowed/);
    await insert(7, null, "select set_config('service.max_subscriptions', '1001', true)");
    const { id } = await bench.service.credential({ name: "by SQL" });
    await bench.empty("events.webhook_subscription");
    await assert.rejects(
      insert(101, id),
      /The credential has 100 webhook subscriptions; more are not allowed/,
    );
  });

  it("isn't passed by those that subscribe at the same time", async () => {
    const by = await token("hasty");
    await create({ token: by });
    const answers = await Promise.all(Array.from({ length: 6 }, () => create({ token: by })));
    const codes = answers.map(({ userErrors }) => userErrors[0]?.code ?? "made").sort();
    assert.deepEqual(codes, [...Array(4).fill("TOO_MANY_SUBSCRIPTIONS"), "made", "made"]);
  });

  it("shows as INVALID in versions that don't know the code", async () => {
    await insert(6);
    assertRefused(await create({ version: "2026-06-unstable" }), "INVALID", null);
  });

  it("lets those be changed that were there before it", async () => {
    const { id, ...credentials } = await bench.service.credential({
      name: "old",
      write: ["webhook_subscriptions"],
    });
    await insert(5, id);
    const by = await bench.service.tokenFor({ id, ...credentials });
    const { body } = await bench.service.ask(by, {
      query: "{ webhookSubscriptions(first: 1) { edges { node { id } } } }",
    });
    const [{ node }] = body.data.webhookSubscriptions.edges;
    const { userErrors } = await bench.mutate(
      ...(["webhookSubscriptionUpdate", { id: node.id, url: "https://shop.example/2" }, ""] as const),
      { token: by },
    );
    assert.deepEqual(userErrors, []);
  });
});
