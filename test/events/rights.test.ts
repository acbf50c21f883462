import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withClient } from "../../src/postgres/client.ts";
import { useDatabase } from "../lib/database.ts";

describe("who may do what with events", () => {
  const used = useDatabase("template_demo", "login");

  /** The result of a statement when the service runs it in one of its roles, or the SQLSTATE of its refusal. */
  async function attempt(role: string, statement: string, scopes = ""): Promise<any[] | string> {
    await used.client.query("begin");
    try {
      await used.client.query(`set local role ${role}`);
      await used.client.query("select set_config('service.scopes', $1, true)", [scopes]);
      return (await used.client.query(statement)).rows;
    } catch (error) {
      return (error as { code: string }).code;
    } finally {
      await used.client.query("rollback");
    }
  }
  const refused = "42501";
  const roles = (condition: string) =>
    withClient(used.database.ownerUrl, (owner) =>
      owner.query(
        `select r.rolname as name from pg_roles r where r.rolname like 'service\\_%' and r.rolname <> 'service_owner' and (${condition}) order by 1`,
      ),
    );

  it("only service_delivery reads the secrets of webhooks", async () => {
    const { rows } = await roles("has_column_privilege(r.oid, 'events.webhook_secret', 'secret', 'select')");
    assert.deepEqual(rows, [{ name: "service_delivery" }]);
    const all = "webhook_subscriptions:read webhook_subscriptions:write";
    for (const role of ["service_api", "service_auth", "service_worker", "service_document"])
      assert.equal(await attempt(role, "select * from events.webhook_secret", all), refused, role);
    const found = await attempt("service_delivery", "select secret from events.webhook_secret limit 1");
    assert.match((found as any[])[0].secret, /^whsec_/);
  });

  it("no role changes events, and only the functions that record them add events", async () => {
    for (const table of ["events.outbox", "events.event"]) {
      assert.deepEqual(
        (
          await roles(
            `has_any_column_privilege(r.oid, '${table}', 'update') or has_table_privilege(r.oid, '${table}', 'truncate')`,
          )
        ).rows,
        [],
      );
      assert.deepEqual((await roles(`has_table_privilege(r.oid, '${table}', 'delete')`)).rows, [
        { name: "service_recorder" },
      ]);
      assert.deepEqual(
        (await roles(`has_any_column_privilege(r.oid, '${table}', 'insert')`)).rows.map(({ name }) => name),
        table === "events.outbox" ? ["service_booker", "service_recorder"] : ["service_recorder"],
      );
    }
    for (const role of [
      "service_recorder",
      "service_writer",
      "service_ledger",
      "service_keeper",
      "service_owner",
    ])
      assert.equal(await attempt(role, "select 1"), refused, `the service can't become ${role}`);
  });

  for (const statement of [
    "select * from erp.customer",
    "select * from auth.credential",
    "select * from mutation.idempotency_key",
    "select * from events.outbox",
    "insert into events.delivery (subscription_id, event_id, entity_id) select id, id, id from events.webhook_subscription",
    "update events.delivery set event_id = gen_random_uuid()",
    "delete from events.delivery",
    "update events.webhook_subscription set url = 'https://other.example'",
    "update events.webhook_subscription set credential_id = null",
    "update events.webhook_secret set expires_at = now()",
    "select mutation.run('api_unstable', 'webhook_subscription_create', '{}', null, false)",
    "select events.new_secret(gen_random_uuid())",
    "select events.fan_out(0, 1)",
  ]) {
    it(`service_delivery may not: ${statement}`, async () => {
      assert.equal(await attempt("service_delivery", statement), refused);
    });
  }

  it("service_delivery may store results of deliveries, and prune", async () => {
    for (const statement of [
      "select events.message_body(id), events.scopes_of_subscription(subscription_id) from events.delivery limit 50",
      "update events.delivery set state = 'delivered', attempts = 1, delivered_at = now()",
      "update events.delivery_queue set claimed_until = now(), claimed_by = 'me'; delete from events.delivery_queue",
      "update events.webhook_subscription set health = 'DEGRADED', backlog_count = 0",
      "insert into events.delivery_attempt (delivery_id, number, status) select id, 99, 200 from events.delivery limit 50",
      "select events.sequence_events(), events.prune()",
    ])
      assert.notEqual(typeof (await attempt("service_delivery", statement)), "string", statement);
  });

  for (const statement of [
    "select * from events.outbox",
    "select * from events.delivery_queue",
    "select entity_id from events.delivery",
    "select credential_id from events.webhook_subscription",
    "select events.sequence_events()",
    "select events.prune()",
    "select events.scopes_of_subscription(gen_random_uuid())",
    "update events.event set topic = 'order.created'",
  ]) {
    it(`service_api may not: ${statement}`, async () => {
      assert.equal(
        await attempt("service_api", statement, "webhook_subscriptions:read orders:read"),
        refused,
      );
    });
  }

  it("service_api sees the events of those topics that the scopes open, also past the API's views", async () => {
    const topics = async (scopes: string) =>
      (await attempt("service_api", "select distinct topic from events.event order by 1", scopes)) as {
        topic: string;
      }[];
    const names = async (scopes: string) => (await topics(scopes)).map(({ topic }) => topic);
    assert.deepEqual(await names("orders:read"), ["order.created", "order.state_changed", "order.updated"]);
    assert.deepEqual(await names("stocks:read documents:read"), [
      "document.created",
      "stock.changed",
      "stock_movement.created",
    ]);
    assert.deepEqual(await names("webhook_subscriptions:read webhook_subscriptions:write"), []);
    assert.deepEqual(await names(""), []);
  });

  it("service_api sees subscriptions, deliveries and attempts with the scope for them only", async () => {
    for (const table of ["webhook_subscription", "delivery", "delivery_attempt"]) {
      const [column] = table === "delivery_attempt" ? ["number"] : ["id"];
      const count = async (scopes: string) =>
        ((await attempt("service_api", `select ${column} from events.${table}`, scopes)) as any[]).length;
      assert.equal(await count("orders:read stocks:read"), 0, table);
      assert.equal(await count("webhook_subscriptions:read"), 0, `${table} of others`);
      assert.ok((await count("webhook_subscriptions:read all_webhook_subscriptions:read")) > 0, table);
    }
  });
});
