import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { queryRows } from "../lib/database.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";
import { fast, startReceiver, startTestWebhooks, subscribe } from "../webhooks/support.ts";
import type { Receiver, TestWebhooks } from "../webhooks/support.ts";
import { loggedIn, textOf } from "./browser.ts";
import type { HttpBrowser } from "./browser.ts";

let service: TestService;
let visitor: HttpBrowser;
let receiver: Receiver;
let webhooks: TestWebhooks;
before(async () => {
  service = await startService({ versions, settings: { webhookAllow: ["127.0.0.1"] } });
  visitor = await loggedIn(service, "anna");
  receiver = await startReceiver();
  // A failed attempt is not repeated while a test looks at it
  webhooks = startTestWebhooks(service.loginUrl, { clock: fast(1) });
});
after(async () => {
  await webhooks?.stop();
  await receiver?.close();
  await service?.close();
});
beforeEach(async () => {
  await service.emptyTables("events.webhook_subscription", "events.outbox", "events.event");
  receiver.answer = (_, response) => response.writeHead(204).end();
  receiver.received.length = 0;
});

const rows = queryRows(() => service.owner);
const subscriptionOf = async (id: string) =>
  (await rows("select * from events.webhook_subscription where id = $1", [id]))[0];
const noted = () =>
  rows(
    `select a.name, e.action, e.subject, e.credential_id, e.details from auth.audit_event e
     join auth.administrator a on a.id = e.administrator_id where e.action ~ '^webhook' order by e.id desc`,
  );
/** Subscribes, by default to products, and causes an event. */
async function told(columns: Record<string, unknown> = {}): Promise<{ id: string; path: string }> {
  const id = await subscribe(service.owner, {
    topic: "product.created",
    url: `${receiver.url}/hook`,
    ...columns,
  });
  await rows("insert into erp.product (product_number) values ($1)", [randomUUID()]);
  return { id, path: `/admin/webhooks/${id}` };
}
/** The page of the only delivery, after its attempt. */
async function triedDelivery(id: string): Promise<string> {
  let found: { id: string }[] = [];
  await until(async () => {
    found = await rows("select id from events.delivery where subscription_id = $1 and attempts > 0", [id]);
    return found.length === 1;
  });
  return `/admin/webhooks/${id}/deliveries/${found[0]!.id}`;
}

test("without subscriptions the page says how to subscribe", async () => {
  const text = textOf(await visitor.get("/admin/webhooks"));
  assert.match(text, /There are no subscriptions yet.*webhookSubscriptionCreate.*docs\/guides\/webhooks\.md/);
});

test("the list shows topic, host, version, API credential, health and waiting messages; unhealthy ones can be shown alone", async () => {
  const { id: credential } = await service.credential({ name: "Shop <b>" });
  await subscribe(service.owner, {
    ...{ topic: "order.created", url: "https://hooks.example.com:8443/a?key=hidden", enabled: false },
    ...{ credential_id: credential, health: "SUSPENDED", health_reason: "Nothing <i>arrives</i>." },
    ...{ backlog_count: 1234, last_delivered_at: "2026-01-02T03:04:05Z" },
  });
  await subscribe(service.owner, { topic: "product.deleted", url: "https://well.example.com/" });
  const all = textOf(await visitor.get("/admin/webhooks"));
  for (const text of [
    "order.created to hooks.example.com:8443 Version unstable API credential: Shop <b>",
    "Last success 2 Jan 2026, 03:04 UTC 1,234 waiting Suspended Nothing <i>arrives</i>.",
    "product.deleted to well.example.com Version unstable API credential: None (created by an administrator) No success yet Nothing delivered yet",
  ])
    assert.ok(all.includes(text), `${text} in ${all}`);
  const troubled = textOf(await visitor.get("/admin/webhooks?show=trouble"));
  assert.match(troubled, /order\.created/);
  assert.doesNotMatch(troubled, /product\.deleted/);
});

test("lists go back, fifty at a time", async () => {
  const { id: first } = await told();
  await rows(
    `insert into events.webhook_subscription (topic, url, api_version)
     select 'order.created', 'https://n' || n || '.example.com/', 'unstable' from generate_series(1, 119) n`,
  );
  await rows(
    `insert into events.delivery (subscription_id, event_id, entity_id, state) select $1, gen_random_uuid(), $1, 'cancelled' from generate_series(1, 119)`,
    [first],
  );
  await triedDelivery(first);
  for (const start of ["/admin/webhooks", `/admin/webhooks/${first}`]) {
    const seen = new Set<string>();
    let path: string | undefined = start;
    let pages = 0;
    while (path) {
      const { html } = await visitor.get(path);
      const found = html.matchAll(
        /<(?:h2|th scope="row")>\s*<a href="\/admin\/webhooks\/([0-9a-f-]{36}(?:\/deliveries\/[0-9a-f-]{36})?)"/g,
      );
      for (const [, id] of found) seen.add(id!);
      path = new RegExp(`href="(${start}\\?before=[^"]+)"`).exec(html)?.[1];
      pages++;
    }
    assert.deepEqual([seen.size, pages], [120, 3], start);
  }
});

test("a subscription has all of its settings, but no secret", async () => {
  const { id: credential } = await service.credential({ name: "Warehouse" });
  const id = await subscribe(service.owner, {
    ...{
      topic: "product.updated",
      url: "https://hooks.example.com/a?b=c",
      secret: `whsec_${"S".repeat(43)}=`,
    },
    ...{ credential_id: credential, fields: ["name", "gtin"] },
    payload_query: 'query ($id: ID!) { product(id: $id) { name } } # "<script>"',
  });
  const page = await visitor.get(`/admin/webhooks/${id}`);
  const text = textOf(page);
  for (const part of [
    "Address https://hooks.example.com/a?b=c",
    "Topic product.updated",
    "Only changes of name, gtin",
    "Version unstable",
    "API credential Warehouse",
    'query ($id: ID!) { product(id: $id) { name } } # "<script>"',
  ])
    assert.ok(text.includes(part), `${part} in ${text}`);
  assert.ok(page.html.includes(`href="/admin/tokens/${credential}"`));
  assert.doesNotMatch(page.html, /SSSS|whsec/);
  await rows("delete from auth.credential where id = $1", [credential]);
  assert.match(textOf(await visitor.get(`/admin/webhooks/${id}`)), /API credential Deleted/);
});

test("a delivery shows what was sent and answered; hostile answers stay text", async () => {
  const evil = `</pre><script>alert(1)</script><img src=x onerror=alert(2)>\u001b[31m\u202egnp${"A".repeat(10_000)}`;
  receiver.answer = (_, response) =>
    response
      .writeHead(500, {
        "x-evil": `"><script>alert(3)</script>${"B".repeat(5_000)}`,
        "set-cookie": ["a=1", "b=2"],
      })
      .end(evil);
  const { id, path } = await told();
  const page = await visitor.get(await triedDelivery(id));
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.html, /<script>|<img src=x|\u001b|\u202e|A{5000}|B{600}|webhook-signature|v1,/);
  const text = textOf(page);
  assert.match(text, /</);
  for (const part of [
    "</pre><script>alert(1)</script><img src=x onerror=alert(2)>␛[31m�gnpAAA",
    'x-evil: "><script>alert(3)</script>BBB',
    "set-cookie: a=1",
    "set-cookie: b=2",
    "The response was 500.",
    "user-agent: stock-and-order-webhooks",
    '"type": "product.created"',
    "Attempt 1,",
  ])
    assert.ok(text.includes(part), `${part} in ${text}`);
  assert.match(textOf(await visitor.get(path)), /Waiting 1 500 product\.created/);
});

test("what the database keeps at most of an answer doesn't break the page, however odd it is", async () => {
  const { id } = await told();
  const page = await triedDelivery(id);
  const line = "\t\u0001\u009b\u2028<\u{1f600}".repeat(600).slice(0, 4096);
  await rows("update events.delivery_attempt set response_body = $1, error = $2, response_headers = $3", [
    ...[line, "<b>\u0007".repeat(3_000)],
    JSON.stringify({ "<i>": "a\r\nset-cookie: forged", "x\u007f": ["\u202e", `${"é".repeat(10_000)}`] }),
  ]);
  const { status, html } = await visitor.get(page);
  assert.equal(status, 200);
  assert.doesNotMatch(
    html,
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u202e]|<b>|<i>|\nset-cookie|é{600}/,
  );
});

test("a test is sent and logged; the page shows its result", async () => {
  const { id: credential } = await service.credential({ name: "Tester" });
  const { id, path } = await told({ topic: "order.created", credential_id: credential });
  const { status, location } = await visitor.post(`${path}/test`, {}, { on: path });
  assert.equal(status, 303);
  assert.match(location!, new RegExp(`^${path}/deliveries/[0-9a-f-]{36}\\?done=tested$`));
  await until(() => receiver.received.length === 1);
  assert.equal(receiver.received[0]!.body.type, "webhook_subscription.test");
  await triedDelivery(id);
  await until(async () => /Delivered/.test(textOf(await visitor.get(location!))));
  const [event] = await noted();
  assert.deepEqual(event, {
    ...{ name: "anna", action: "webhook_subscription.tested", credential_id: credential },
    subject: `order.created to ${new URL(receiver.url).host}`,
    details: { subscription_id: id, delivery_id: /deliveries\/([^?]+)/.exec(location!)![1] },
  });
  for (const page of ["/admin/activity", `/admin/tokens/${credential}`]) {
    const { html } = await visitor.get(page);
    assert.match(
      html,
      new RegExp(`Sent a test to the webhook\\s*<strong><a href="${path}">order\\.created to`),
      page,
    );
  }
});

test("a delivery is sent again, and that is noted", async () => {
  const { id } = await told();
  const page = await triedDelivery(id);
  await until(async () => /Delivered/.test(textOf(await visitor.get(page))));
  const { location } = await visitor.post(`${page}/retry`, {}, { on: page });
  assert.equal(location, `${page}?done=retried`);
  await until(() => receiver.received.length === 2);
  const [first, second] = receiver.received;
  assert.equal(first!.headers["webhook-id"], second!.headers["webhook-id"]);
  await until(async () => /Attempt 2,.*Attempt 1,/.test(textOf(await visitor.get(page))));
  const [event] = await noted();
  assert.deepEqual([event.action, event.name], ["webhook_delivery.retried", "anna"]);
});

test("disabling asks first, holds messages back, and is logged once; enabling resumes it, for the same token", async () => {
  receiver.answer = (_, response) => response.writeHead(500).end();
  const { id: credential } = await service.credential({ name: "Narrow", read: ["products"] });
  const { id, path } = await told({ credential_id: credential });
  const page = await triedDelivery(id);
  assert.match(textOf(await visitor.get(`${path}/disable`)), /Waiting messages are kept/);
  for (let times = 0; times < 2; times++) {
    const { location } = await visitor.post(`${path}/disable`);
    assert.equal(location, `${path}?done=disabled`);
  }
  const { enabled, health, health_reason } = await subscriptionOf(id);
  assert.deepEqual([enabled, health, health_reason], [false, "DISABLED", "An administrator disabled it."]);
  assert.deepEqual(await rows("select next_attempt_at::text as at from events.delivery_queue"), [
    { at: "infinity" },
  ]);
  assert.match(
    textOf(await visitor.get(`${path}?done=disabled`)),
    /An administrator disabled it\. Waiting 1/,
  );

  // Forms of pages that are still open
  for (const action of [`${path}/test`, `${page}/retry`]) {
    const refused = await visitor.post(action, {}, { on: path });
    assert.equal(refused.status, 409);
    assert.match(textOf(refused), /The subscription is disabled\. Enable it first\./);
  }

  receiver.answer = (_, response) => response.writeHead(204).end();
  assert.equal((await visitor.post(`${path}/enable`, {}, { on: path })).location, `${path}?done=enabled`);
  await until(async () => (await subscriptionOf(id)).backlog_count === 0);
  const after = await subscriptionOf(id);
  assert.deepEqual([after.enabled, after.health, after.disabled_at], [true, "HEALTHY", null]);
  assert.equal(after.credential_id, credential, "an administrator's rights are not lent to it");
  await visitor.post(`${path}/enable`, {}, { on: path });
  // The repetition changed nothing
  const events = (await noted()).filter(({ details }) => details.subscription_id === id);
  assert.deepEqual(
    events.map(({ action }) => action),
    ["webhook_subscription.enabled", "webhook_subscription.disabled"],
  );
});

test("stopping asks first, drops what waits, and is noted once; the log still has it", async () => {
  receiver.answer = (_, response) => response.writeHead(500).end();
  const { id: credential } = await service.credential({ name: "Too much", read: ["products"] });
  const { id, path } = await told({ credential_id: credential });
  await triedDelivery(id);
  await rows(
    "insert into erp.product (product_number) select gen_random_uuid()::text from generate_series(1, 6000)",
  );
  await until(async () => (await subscriptionOf(id)).backlog_count === 6_001);
  assert.match(textOf(await visitor.get(path)), /Stop and drop waiting messages/);
  assert.match(textOf(await visitor.get(`${path}/stop`)), /6,001 waiting messages are dropped/);
  for (let times = 0; times < 2; times++) {
    const { status, location } = await visitor.post(`${path}/stop`);
    assert.deepEqual([status, location], [303, `${path}?done=stopped`]);
  }
  const { enabled, health, health_reason, backlog_count } = await subscriptionOf(id);
  const reason = "An administrator stopped it, and dropped what waited.";
  assert.deepEqual([enabled, health, health_reason, backlog_count], [false, "DISABLED", reason, 0]);
  assert.deepEqual(await rows("select from events.delivery_queue"), []);
  const states = await rows("select state, count(*)::int as count from events.delivery group by state");
  assert.deepEqual(states, [{ state: "cancelled", count: 6_001 }]);
  const page = await visitor.get(path);
  assert.match(textOf(page), /An administrator stopped it, and dropped what waited\. Waiting 0/);
  assert.doesNotMatch(page.html, /stop"/, "there is nothing left to stop");

  const events = (await noted()).filter(({ details }) => details.subscription_id === id);
  assert.deepEqual(events, [
    {
      ...{ name: "anna", action: "webhook_subscription.stopped", credential_id: credential },
      subject: `product.created to ${new URL(receiver.url).host}`,
      details: { subscription_id: id, dropped: 6_001 },
    },
  ]);
  assert.match(textOf(await visitor.get("/admin/activity")), /Dropped messages: 6,001/);

  // Dropped messages can be requested again
  receiver.answer = (_, response) => response.writeHead(204).end();
  receiver.received.length = 0;
  await visitor.post(`${path}/enable`, {}, { on: path });
  const [event] = await rows("select sequence from events.event order by sequence desc limit 1");
  const token = await service.token({
    read: ["products"],
    write: ["webhook_subscriptions", "all_webhook_subscriptions"],
  });
  const query = `mutation { webhookDeliveriesReplay(input: { id: "gid://service/WebhookSubscription/${id}", fromSequence: ${event.sequence} }) { replayedCount } }`;
  const { body } = await service.ask(token, { query });
  assert.equal(body.data.webhookDeliveriesReplay.replayedCount, 1);
  await until(() => receiver.received.length === 1);
});

test("a suspended one is resumed as well", async () => {
  const { id, path } = await told({ health: "SUSPENDED", next_probe_at: "2100-01-01T00:00:00Z" });
  await until(async () => (await subscriptionOf(id)).backlog_count === 1);
  assert.match(textOf(await visitor.get(path)), /Next attempt 1 Jan 2100, 00:00 UTC/);
  await visitor.post(`${path}/enable`, {}, { on: path });
  await until(() => receiver.received.length === 1);
  assert.equal((await subscriptionOf(id)).health, "HEALTHY");
});

test("one whose address may no longer be used is not enabled", async () => {
  const { id, path } = await told({ enabled: false, health: "DISABLED", url: "http://localhost/" });
  const page = await visitor.post(`${path}/enable`, {}, { on: path });
  assert.equal(page.status, 409);
  assert.match(textOf(page), /Webhooks are not sent to this host/);
  assert.equal((await subscriptionOf(id)).enabled, false);
});

test("nothing is done without the token of a form, nor without a session", async () => {
  const { id, path } = await told();
  const page = await triedDelivery(id);
  const nobody = await service.owner.query("select from auth.audit_event");
  for (const action of [
    `${path}/test`,
    `${path}/enable`,
    `${path}/disable`,
    `${path}/stop`,
    `${page}/retry`,
  ]) {
    assert.equal((await visitor.postRaw(action, {})).status, 403, action);
    const stranger = await fetch(service.url + action, { method: "POST", redirect: "manual" });
    assert.equal(stranger.status, 303, action);
    assert.match(stranger.headers.get("location")!, /^\/admin\/log-in/);
  }
  assert.equal((await subscriptionOf(id)).enabled, true);
  assert.deepEqual((await service.owner.query("select from auth.audit_event")).rowCount, nobody.rowCount);
});

test("there is nothing where nothing is", async () => {
  const { id, path } = await told();
  const delivery = (await triedDelivery(id)).split("/").at(-1);
  const other = await subscribe(service.owner, { topic: "order.created", url: "https://a.example.com/" });
  const none = randomUUID();
  for (const address of [
    "/admin/webhooks/x",
    `/admin/webhooks/${none}`,
    `/admin/webhooks/${none}/disable`,
    `/admin/webhooks/${none}/stop`,
    "/admin/webhooks?before=x",
    `${path}?before=x`,
    `${path}/deliveries/x`,
    `${path}/deliveries/${none}`,
    `/admin/webhooks/${other}/deliveries/${delivery}`,
  ])
    assert.equal((await visitor.get(address)).status, 404, address);
  const elsewhere = `/admin/webhooks/${other}/deliveries/${delivery}/retry`;
  assert.equal((await visitor.post(elsewhere, {}, { on: path })).status, 404);
  assert.deepEqual(
    (await noted()).filter(({ details }) => details.delivery_id === delivery),
    [],
    "not sent again",
  );
  for (const action of ["test", "enable", "disable", "stop", `deliveries/${none}/retry`])
    assert.equal(
      (await visitor.post(`/admin/webhooks/${none}/${action}`, {}, { on: path })).status,
      404,
      action,
    );
});
