import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";
import { assertProof } from "../lib/proof.ts";

const narrowRoles = [
  "service_login",
  "service_api",
  "service_auth",
  "service_writer",
  "service_ledger",
  "service_booker",
];
const ledgerTables = {
  "ledger.stock_movement": "quantity",
  "ledger.stock_movement_batch": "quantity",
  "ledger.stock_count": "quantity",
  "ledger.booking": "note",
};
const denied = { code: "42501" };

/** Functions that the role of the API may call, which read with the rights of their owners, and what is asked of them. */
const readers = {
  "erp.cycle_counts": "'WAREHOUSE', 1, 1, 1, 10",
  "erp.reorder_proposals": "null, null, null, 90, 10",
  "ledger.allows_backorders": "'BACKORDERS'",
  "ledger.batch_quantity_as_of": "'BATCH', null, null, '2026-01-01'",
  "ledger.expected_units": "'EXPECTED', null, '2100-01-01'",
  "ledger.missing_units": "'MISSING'",
  "ledger.quantity_as_of": "'PRODUCT', null, null, null, '2026-01-01'",
  "ledger.safety_stock_of": "'KEPTBACK'",
  "ledger.stock_card": "'PRODUCT', null, null, null, '2020-01-01', null",
  "valuation.cost_of_fulfillment": "'FULFILLMENT'",
  "valuation.cost_of_order": "'ORDER'",
  "valuation.margin_of_order": "'ORDER'",
  "valuation.product_value": "'PRODUCT', null, null, null, null",
  "valuation.stock_value": "null, null, null, null, null",
};

describe("the ledger", () => {
  // Before the database goes, in which nothing stays
  after(() => prove());
  // Its connection logs in as superuser, so that it can become any role
  const used = useDatabase("template_demo");

  const rows = queryRows(() => used.client);
  const prove = () => assertProof(used.client);

  /** Works in a transaction that is undone. The books must be right before that, too. */
  const undone = async (work: () => Promise<void>) => {
    await used.client.query("begin");
    try {
      await work();
      await prove();
    } finally {
      await used.client.query("rollback");
    }
  };

  /** The result, or the refusal, that a role gets. */
  const as = async (role: string, statement: string, scopes = "") => {
    await used.client.query("begin");
    try {
      await used.client.query(`set local role ${role}`);
      await used.client.query("select set_config('service.scopes', $1, true)", [scopes]);
      return await rows(statement);
    } finally {
      await used.client.query("rollback");
    }
  };

  describe("can only be added to", () => {
    for (const role of narrowRoles) {
      it(`by ${role} neither`, async () => {
        for (const [table, column] of Object.entries(ledgerTables)) {
          const held = await rows(
            `select r as right from unnest(array['update', 'delete', 'truncate', 'trigger']) r
             where has_table_privilege($1, $2, r) or (r = 'update' and has_any_column_privilege($1, $2, r))`,
            [role, table],
          );
          assert.deepEqual(held, []);
          await assert.rejects(as(role, `update ${table} set ${column} = ${column}`), denied);
          await assert.rejects(as(role, `delete from ${table}`), denied);
          await assert.rejects(as(role, `truncate ${table} cascade`), denied);
        }
      });
    }

    it("and by the booking roles alone", async () => {
      for (const table of Object.keys(ledgerTables)) {
        const adding = await rows(
          "select r as role from unnest($2::text[]) r where has_any_column_privilege(r, $1, 'insert')",
          [table, narrowRoles],
        );
        const adders =
          table === "ledger.stock_count" ? ["service_ledger", "service_booker"] : ["service_booker"];
        assert.deepEqual(
          adding.map(({ role }) => role),
          adders,
        );
      }
      const some = "(product_id, quantity) select id, 1 from erp.product limit 1";
      await assert.rejects(as("service_writer", `insert into ledger.stock_movement ${some}`), denied);
    });

    it("while the role of mutations can't touch the figures either", async () => {
      const figures = await rows(
        `select f as figure from unnest(array['erp.product physical_stock', 'erp.product stock_not_available_for_sale',
           'erp.product reserved_stock', 'erp.batch physical_stock', 'ledger.stock quantity', 'ledger.batch_stock quantity',
           'ledger.warehouse_stock quantity', 'ledger.warehouse_stock reserved_quantity',
           'erp.product_warehouse_configuration stock', 'erp.product_stock_location_configuration stock']) f
         where has_column_privilege('service_writer', split_part(f, ' ', 1), split_part(f, ' ', 2), 'update')`,
      );
      assert.deepEqual(figures, []);
    });
  });

  it("has a clock that no serving role can move", async () => {
    const roles = await rows("select name from api_meta.own_role where is_serving order by 1");
    assert.ok(roles.length >= narrowRoles.length);
    for (const { name } of roles)
      for (const signature of ["moment()", "moment_of_statement()"]) {
        const moved = `function ledger.${signature} returns timestamptz language sql stable return now() - interval '1 day'`;
        await assert.rejects(as(name, `create or replace ${moved}`), denied, name);
        await assert.rejects(as(name, `drop function ledger.${signature} cascade`), denied, name);
        await assert.rejects(as(name, `alter function ledger.${signature} owner to ${name}`), denied, name);
      }
  });

  describe("proves that each movement is in its booking", () => {
    for (const [fault, figures] of [
      [
        "update ledger.stock_movement set booking_id = uuidv7() where id = $1",
        ["booking.movements", "stock_movement.booking_id"],
      ],
      ["update ledger.stock_movement set microseconds = 1 where id = $1", ["stock_movement.booking_id"]],
      ["update ledger.stock_movement set transaction_id = 1 where id = $1", ["booking.transaction"]],
      ["update ledger.stock_movement set booking_id = null where id = $1", ["booking.movements"]],
      ["delete from ledger.booking where last_movement_id = $1", ["stock_movement.booking_id"]],
    ] as const)
      it(fault, async () => {
        const [last] = await rows(
          "select last_movement_id as id, id as booking from ledger.booking where id <> last_movement_id limit 1",
        );
        await used.client.query("begin");
        try {
          await used.client.query(
            "alter table ledger.stock_movement disable trigger user; alter table ledger.booking disable trigger user",
          );
          await used.client.query(
            "update ledger.stock_movement set transaction_id = 2 where booking_id = $1",
            [last.booking],
          );
          await used.client.query(fault, [last.id]);
          const found = await rows("select distinct figure from ledger.proof order by 1");
          assert.deepEqual(
            found.map(({ figure }) => figure),
            figures,
          );
        } finally {
          await used.client.query("rollback");
        }
      });
  });

  describe("is out of reach for the role of the API", () => {
    it("which may call what runs mutations, and nothing else that changes something", async () => {
      const callable = await rows(
        `select p.oid::regproc::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.nspname ~ '^(erp|ledger|valuation|mutation|auth|events|api_.*)$' and (p.provolatile = 'v' or p.prosecdef and n.nspname <> 'auth')
           and p.oid <> all ('{erp.localized(jsonb),erp.open_transactions(),"erp.require_countable(numeric,bigint)",events.readable_topics()}'::regprocedure[]) and has_function_privilege('service_api', p.oid, 'execute')
         order by 1`,
      );
      const names = callable.map(({ name }) => name);
      assert.deepEqual(names, [
        ...Object.keys(readers).filter((name) => /^(erp|ledger)\./.test(name)),
        "mutation.rehearse",
        "mutation.run",
        "mutation.run_together",
        ...Object.keys(readers).filter((name) => name.startsWith("valuation.")),
      ]);
    });

    it("which reads nothing without scopes through functions that read with more rights", async () => {
      const scopes =
        "batches:read stocks:read stocktake_results:read valuation:read orders:read products:read supplier_orders:read";
      await rows("select set_config('service.scopes', $1, false)", [scopes]);
      // So that units of a reservation are missing, and each reader has something to read
      await rows(
        `update erp.batch set is_held = true where id = (
           select r.batch_id from erp.stock_reservation r where r.open_quantity > 0 and r.batch_id is not null limit 1)`,
      );
      await rows(
        "update erp.product set allows_backorders = true where id = (select id from erp.product limit 1)",
      );
      const [ids] = await rows(
        `select o.id as "ORDER", f.id as "FULFILLMENT", m.product_id as "PRODUCT", b.batch_id as "BATCH",
           (select p.id from erp.product p where p.safety_stock > 0 limit 1) as "KEPTBACK",
           (select w.id from erp.warehouse w where w.code = 'HAM') as "WAREHOUSE",
           (select p.id from erp.product p where p.allows_backorders limit 1) as "BACKORDERS",
           (select l.product_id from erp.supplier_order_line_item l join erp.supplier_order p on p.id = l.supplier_order_id
            where l.open_quantity > 0 and l.product_id is not null and coalesce(l.expected_delivery_date, p.delivery_date) is not null
              and p.state in ('open', 'sent', 'confirmed', 'partially_delivered') limit 1) as "EXPECTED",
           (select r.id from erp.stock_reservation r where ledger.missing_units(r.id) > 0 limit 1) as "MISSING"
         from erp.fulfillment_line_item l join erp.fulfillment f on f.id = l.fulfillment_id
         join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
         join ledger.stock_movement m on m.id = k.stock_movement_id join erp.sales_order o on o.id = m.destination_order_id
         join ledger.stock_movement_batch b on b.stock_movement_id = m.id
         where f.state = 'Fulfilled' and o.state = 'completed'
           and valuation.cost_of_fulfillment(f.id) > 0 and valuation.cost_of_order(o.id) > 0 and valuation.margin_of_order(o.id) is not null limit 1`,
      );
      for (const [name, given] of Object.entries(readers)) {
        const call = `${name}(${given.replaceAll(/[A-Z]{5,}/g, (word) => ids[word])})`;
        const statement = `select count(*)::integer as read from ${call} x where to_jsonb(x) <> 'null' and to_jsonb(x)::text ~ '[1-9]|true'`;
        assert.deepEqual(await as("service_api", statement), [{ read: 0 }], call);
        const [{ read }] = await as("service_api", statement, scopes);
        assert.ok(read > 0, call);
      }
    });

    for (const statement of [
      "select ledger.post(array[]::ledger.draft[], null)",
      "select ledger.set_stock(array[]::ledger.line[], null)",
      "select ledger.adjust_stock(array[]::ledger.line[], null)",
      "select ledger.book(array[]::ledger.draft[], null)",
      "select ledger.write(array[]::ledger.call[], array[]::ledger.draft[], array[]::ledger.place_change[])",
      "select ledger.book_singles(array[]::ledger.single[])",
      "select ledger.write_shipment(null, array[]::ledger.pick[], '{}', '{}')",
      "select ledger.write_assigned(null, array[]::erp.assignment[])",
      "select ledger.write_deliveries(array[]::erp.delivery[], now())",
      "select ledger.transfer_stock(array[]::ledger.line[], null)",
      "select erp.create_warehouse('X', 'X', true, true, true, null)",
      "select erp.delete_warehouse(id) from erp.warehouse",
      "select api_unstable.warehouse_create(null)",
      "select api_2026_06_unstable.warehouse_create(null)",
      "select api_unstable.stock_set(null)",
      "select mutation.refuse('INVALID', 'x')",
      "select key from mutation.idempotency_key",
    ]) {
      it(statement, async () => {
        await assert.rejects(as("service_api", statement, "warehouses:write stocks:write"), denied);
      });
    }

    it("nor can a role that logs in become one that may", async () => {
      const within = await rows(
        `select r as role from unnest(array['service_owner', 'service_writer', 'service_ledger', 'service_booker']) r
         where pg_has_role('service_login', r, 'member') or pg_has_role('service_api', r, 'member')`,
      );
      assert.deepEqual(within, []);
    });
  });

  describe("and mutation.run", () => {
    const run = (version: string, operation: string, scopes: string) =>
      as(
        "service_api",
        `select mutation.run('${version}', '${operation}', '{"id": null}', null, true)`,
        scopes,
      );
    const all = "warehouses:read warehouses:write stocks:read stocks:write";

    it("refuses without the scope, despite similar ones", async () => {
      for (const scopes of ["", "warehouses:read", "stocks:write", "warehouses:writes", "warehouses", "*"])
        await assert.rejects(run("api_unstable", "warehouse_delete", scopes), denied);
      assert.equal((await run("api_unstable", "warehouse_delete", all)).length, 1);
    });

    for (const [version, operation] of [
      ["api_unstable", "nothing"],
      ["api_unstable", "warehouses"],
      ["api_unstable", "warehouse_create(null)"],
      ["api_unstable.warehouse_create", "warehouse_create"],
      ["api_1999_01", "warehouse_create"],
      ["api_meta", "derive"],
      ["api_meta", "freeze"],
      ["auth", "delete_credential"],
      ["erp", "create_warehouse"],
      ["ledger", "set_stock"],
      ["mutation", "run"],
      ["pg_catalog", "pg_sleep"],
      ["", ""],
    ] as const) {
      it(`knows no ${version}.${operation}`, async () => {
        await assert.rejects(run(version, operation, all), { code: "42883" });
      });
    }

    it("knows no function without scopes in an API schema", () =>
      undone(async () => {
        await used.client.query(
          "create function api_unstable.helper(input api_unstable.warehouse_delete_input) returns int language sql as 'select 1'",
        );
        await used.client.query("set local role service_api");
        const call = "select mutation.run('api_unstable', 'helper', '{}', null, false)";
        await used.client.query("savepoint before");
        await assert.rejects(rows(call), { code: "42883" });
        await used.client.query("rollback to before; reset role");
      }));
  });

  describe("and what is declared about mutations", () => {
    const codes = "select unnest(enum_range(null::api_unstable.user_error_code))::text";

    it("knows the codes and columns of violated constraints", async () => {
      const noted = `
        select conname as name, conrelid as relation, obj_description(oid, 'pg_constraint') as note from pg_constraint
        union all select c.relname, i.indrelid, obj_description(c.oid, 'pg_class') from pg_class c join pg_index i on i.indexrelid = c.oid`;
      const declared = await rows(
        `select n.name, mutation.violation(s.nspname, c.relname, n.name) as error, 
           array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns
         from (${noted}) n join pg_class c on c.oid = n.relation join pg_namespace s on s.oid = c.relnamespace where n.note ~ '@userError'`,
      );
      assert.ok(declared.length >= 14);
      const known = (await rows(codes)).map(({ unnest }) => unnest);
      for (const { name, error, columns } of declared) {
        assert.ok(known.includes(error?.code), `${name}: ${JSON.stringify(error)}`);
        assert.match(error.message, /^[A-Z].*\.$/);
        for (const column of error.field ?? []) assert.ok(columns.includes(column), `${name}: ${column}`);
      }
    });

    it("gives each mutation a scope that exists and codes that exist", async () => {
      const listed = (tag: string) => `regexp_split_to_array(substring(d from '(?n)^@${tag} +(.*)$'), ' +')`;
      // Scopes that only mutations name could be misspelled, so they must be those of views
      const functions = await rows(
        `select p.oid::regprocedure::text as name, ${listed("requiresScopes")} <@ array(
             select replace(scope, ':read', ':write') from api_meta.api_view v cross join api_meta.view_tag(v.view, 'requiresScopes') t
             cross join regexp_split_to_table(t, ' +') scope) as scopes,
           ${listed("userErrors")} <@ array(${codes}) as errors
         from pg_proc p join pg_namespace n on n.oid = p.pronamespace cross join obj_description(p.oid, 'pg_proc') d
         where n.nspname ~ '^api_(unstable|\\d)' and p.provolatile = 'v'`,
      );
      assert.ok(functions.length >= 20);
      for (const { name, scopes, errors } of functions)
        assert.deepEqual({ name, scopes, errors }, { name, scopes: true, errors: true });
    });
  });
});
