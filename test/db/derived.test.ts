import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readCatalogue, describeDifferences } from "../lib/catalogue.ts";
import { useDatabase } from "../lib/database.ts";

/** What somebody may do by hand to what migrations derive: each changes something else. */
const rounds: Record<string, string[]> = {
  changed: [
    `create or replace function events.announce_product_update() returns trigger
     language plpgsql security definer set search_path = pg_catalog, pg_temp as 'begin return null; end'`,
    `create or replace function events.stock_insert_events(n ledger.stock)
     returns table (topic text, subject_id uuid, entity_id uuid, data jsonb, changed_fields text[]) language sql stable
     begin atomic select null::text, null::uuid, null::uuid, null::jsonb, null::text[] where false; end`,
    "comment on function events.stock_update_events(ledger.stock, ledger.stock) is null",
    "revoke execute on function events.product_update_events(erp.product, erp.product) from service_booker",
    `create or replace function erp.uphold_rules_of_product() returns trigger
     language plpgsql set search_path = pg_catalog, pg_temp as 'begin return new; end'`,
    `create or replace trigger uphold_rules before insert or update of gtin on erp.product
     for each row execute function erp.uphold_rules_of_product()`,
    `create or replace function ledger.check_references_of_stock_movement() returns trigger language plpgsql
     security definer set search_path = pg_catalog, pg_temp as 'begin return null; end'`,
    "revoke execute on function search.unstable_products(text[]) from service_api",
    "revoke select on api_unstable.products from service_api",
    "grant select on erp.product to service_api",
    "grant select (name) on auth.credential to service_api",
    "revoke execute on function api_unstable.stock_set(api_unstable.stock_set_input) from service_writer",
    "comment on column api_unstable.products.gtin is null",
  ],
  gone: [
    "drop trigger announce_update on erp.product",
    "drop function events.announce_product_update()",
    "drop function events.batch_update_events(erp.batch, erp.batch)",
    "drop trigger uphold_figures on erp.product",
    "drop trigger check_references_to_gone on erp.product",
    "drop trigger check_references_of_new on ledger.stock_movement",
    "drop function search.unstable_products(text[])",
    "drop policy product_select_api on erp.product",
    "drop policy product_select_searcher on erp.product",
  ],
};

describe("what migrations derive", () => {
  const used = useDatabase("template_schema");
  const finish = () => used.client.query("select api_meta.finish_migration()");

  for (const [what, changes] of Object.entries(rounds))
    it(`is as before after the next one, where it was ${what} by hand`, async () => {
      const before = await readCatalogue(used.client);
      for (const change of changes) await used.client.query(change);
      const made = describeDifferences(before, await readCatalogue(used.client));
      assert.ok(made.length >= changes.length, made.join("\n"));
      await finish();
      assert.deepEqual(describeDifferences(before, await readCatalogue(used.client)), []);
    });

  it("has each mutation as its comment says", async () => {
    const mutations = async () =>
      (await used.client.query("select o::text from mutation.operation o order by o.version, o.operation"))
        .rows;
    const before = await mutations();
    await used.client.query("delete from mutation.operation where operation = 'stock_set'");
    await used.client.query("update mutation.operation set scopes = '{}' where operation = 'stock_adjust'");
    await used.client.query(
      "insert into mutation.operation select version, 'other', routine, input_type, takes_changes, scopes from mutation.operation limit 1",
    );
    assert.notDeepEqual(await mutations(), before);
    await finish();
    assert.deepEqual(await mutations(), before);
  });

  it("lets those read a table who have all scopes after allOf:, and one of the others", async () => {
    const made = async (...tags: string[]) => {
      const views = tags.map(
        (
          tag,
          index,
        ) => `create view api_unstable.notes${index} with (security_invoker = true) as select id from erp.note;
          comment on view api_unstable.notes${index} is E'@primaryKey id\\n@requiresScopes ${tag}\\nA note.';`,
      );
      await used.client.query(
        `create table erp.note (id uuid primary key); alter table erp.note enable row level security; ${views.join("\n")}
         select api_meta.protect_reads()`,
      );
      const { rows } = await used.client.query(
        `select pg_get_expr(polqual, polrelid) as condition from pg_policy where polrelid = 'erp.note'::regclass`,
      );
      await used.client.query("drop table erp.note cascade");
      return rows.map(({ condition }) =>
        condition.replace(
          /\( SELECT auth\.has_scope\(VARIADIC '\{([^}]*)\}'::text\[\]\) AS has_scope\)/g,
          "$1",
        ),
      );
    };
    assert.deepEqual(await made("a:read b:read"), ["a:read,b:read"]);
    assert.deepEqual(await made("allOf: b:read a:read"), ["(a:read AND b:read)"]);
    assert.deepEqual(await made("c:read", "allOf: a:read b:read"), ["(c:read OR (a:read AND b:read))"]);
    assert.deepEqual(await made("a:read", "allOf: a:read b:read"), ["a:read"], "one scope is enough already");
    assert.deepEqual(await made("allOf: a:read b:read", "allOf: b:read a:read c:read"), [
      "(a:read AND b:read)",
    ]);
    assert.deepEqual(await made("anyOf: a:read b:read allOf: c:read"), [
      "((a:read AND c:read) OR (b:read AND c:read))",
    ]);
  });
});
