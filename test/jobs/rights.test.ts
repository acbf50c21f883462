import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createJobPool } from "../../src/postgres/background-pool.ts";
import { useDatabase } from "../lib/database.ts";

const refused = "42501";

describe("service_worker", () => {
  const used = useDatabase("template_demo");

  /** Runs a statement as background work does. Returns the SQLSTATE of its refusal, or null. */
  async function attempt(statement: string): Promise<string | null> {
    const pool = createJobPool(used.database.loginUrl, 1);
    try {
      await pool.query(statement);
      return null;
    } catch (error) {
      return (error as { code: string }).code;
    } finally {
      await pool.end();
    }
  }

  it("is the role of background work, whatever the URL says", async () => {
    const url = new URL(used.database.adminUrl);
    url.searchParams.set("options", "-c role=service_owner");
    const pool = createJobPool(url.href, 1);
    const { rows } = await pool.query(
      "select current_user as role, current_setting('timezone') as zone, current_setting('statement_timeout') as limit",
    );
    await pool.end();
    assert.deepEqual(rows, [{ role: "service_worker", zone: "UTC", limit: "15s" }]);
  });

  it("owns nothing, and is no member of another role", async () => {
    const { rows } = await used.client.query(`
      select c.oid::regclass::text as name from pg_class c where c.relowner = 'service_worker'::regrole
      union all select p.oid::regprocedure::text from pg_proc p where p.proowner = 'service_worker'::regrole
      union all select m.roleid::regrole::text from pg_auth_members m where m.member = 'service_worker'::regrole`);
    assert.deepEqual(rows, []);
  });

  it("may do nothing to a table but those of the queue", async () => {
    const { rows } = await used.client.query(`
      select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'S') and n.nspname not in ('graphile_worker', 'pg_catalog', 'information_schema', 'pg_toast')
        and case when c.relkind = 'S' then has_sequence_privilege('service_worker', c.oid, 'usage, select, update')
          else has_any_column_privilege('service_worker', c.oid, 'select, insert, update, references')
            or has_table_privilege('service_worker', c.oid, 'delete, truncate, trigger, maintain') end`);
    assert.deepEqual(rows, []);
  });

  it("may call the functions of its jobs, and no other of ours", async () => {
    const { rows } = await used.client.query(`
      select case n.nspname when 'bulk' then 'bulk.' else '' end || p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname not in ('pg_catalog', 'information_schema') and has_function_privilege('service_worker', p.oid, 'execute')
        and has_schema_privilege('service_worker', n.oid, 'usage')`);
    assert.deepEqual(
      rows.map(({ name }) => name).sort(),
      (
        "add_head add_job add_jobs add_signing_key bulk.add_chunk bulk.add_result bulk.begin_result bulk.begin_upload bulk.drop_upload " +
        "bulk.due_at bulk.end_upload bulk.finish bulk.import_chunk bulk.open_errors bulk.open_result bulk.prune bulk.read_chunk " +
        "bulk.release bulk.renew bulk.rights_to_files bulk.take carriers_with_work claim_shipping_labels close_next erase_retired_keys expire_batches expire_quotes expire_reservations " +
        "fill_default_currency_prices fill_next_batch force_unlock_workers import_exchange_rates label_backlog next_head prune " +
        "prune_attempts prune_audit prune_credentials " +
        "prune_keys prune_label_files prune_operations prune_uses settle_shipping_label"
      ).split(" "),
    );
  });

  for (const statement of [
    "select * from erp.currency",
    "select * from erp.exchange_rate",
    "insert into erp.exchange_rate (currency_id, reference_date, factor, source) select gen_random_uuid(), now(), 1, 'me'",
    "update erp.goods_receipt_line_item set unit_price_in_default_currency = 1",
    "delete from erp.exchange_rate",
    "select * from auth.credential",
    "select * from auth.signing_key",
    "select auth.signing_keys()",
    "select * from valuation.signing_key",
    "select valuation.rotate_signing_key(gen_random_uuid(), '', '')",
    "insert into graphile_worker.migrations (id) values (1000)",
    "create table graphile_worker.mine ()",
    "drop table graphile_worker._private_jobs",
    "set role service_owner",
  ]) {
    it(`may not ${statement}`, async () => assert.equal(await attempt(statement), refused));
  }

  it("does its work all the same", async () => {
    assert.equal(await attempt("select events.prune(10)"), null);
    assert.equal(await attempt("select auth.erase_retired_keys()"), null);
    assert.equal(await attempt("select ledger.close_next()"), null);
    assert.equal(await attempt("select ledger.expire_reservations()"), null);
    assert.equal(await attempt("select erp.fill_default_currency_prices(null, 10)"), null);
    assert.equal(
      await attempt(`select erp.import_exchange_rates('2026-06-01', '{"USD": 1.1}', 'ecb')`),
      null,
    );
  });
});

describe("the functions of background work", () => {
  const used = useDatabase("template_schema");

  for (const role of ["service_api", "service_auth", "service_writer", "service_ledger"]) {
    it(`are closed to ${role}`, async () => {
      const { rows } = await used.client.query(
        `select p.oid::regprocedure::text as name from pg_proc p
         where p.proname in ('fill_default_currency_prices', 'import_exchange_rates') and has_function_privilege($1, p.oid, 'execute')
         union all select 'the queue' where has_schema_privilege($1, 'graphile_worker', 'usage')`,
        [role],
      );
      assert.deepEqual(rows, []);
    });
  }

  it("let service_keeper change nothing but rates, prices and leases, and erase keys", async () => {
    const { rows } = await used.client.query<{ change: string }>(`
      select format('%s %s.%s', lower(privilege_type), table_name, column_name) as change from information_schema.column_privileges
      where grantee = 'service_keeper' and privilege_type <> 'SELECT' and privilege_type <> 'INSERT' order by 1`);
    assert.deepEqual(
      rows.map(({ change }) => change),
      [
        "update exchange_rate.factor",
        "update exchange_rate.imported_at",
        "update goods_receipt.updated_at",
        "update goods_receipt_line_item.unit_price_in_default_currency",
        "update shipping_label_work.attempts",
        "update shipping_label_work.due_at",
        "update signing_key.secret",
      ],
    );
  });
});
