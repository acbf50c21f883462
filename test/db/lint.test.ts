import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import pg from "pg";
import { runLint, readLints } from "../../src/check/lints.ts";
import type { Lint } from "../../src/check/lints.ts";
import { useDatabase } from "../lib/database.ts";

const lints = await readLints();

/** The findings of a lint, one a line. */
const faultsOf = async (client: pg.ClientBase, lint: Lint) =>
  (await runLint(client, lint)).map(({ object, what }) => `${object}: ${what}`);

/** For each lint, a mistake that it must find; where it is a union, one for each part. */
const mistakes: Record<string, string | string[]> = {
  "action-mutation":
    "update erp.state_transition set mutation = 'order_open_again' where machine = 'order' and action = 'reopen'",
  "api-login": [
    "set role none; grant service_auth to service_api",
    "set role none; alter role service_api createrole",
    "grant select on erp.tag to service_api_login",
    "create function erp.f() returns int security definer set search_path = pg_catalog, pg_temp language sql as 'select 1'; grant execute on function erp.f() to service_api_login",
  ],
  "append-only": "grant update (comment) on ledger.stock_movement to service_ledger",
  "blank-key": [
    "alter table erp.supplier drop constraint supplier_number_is_not_blank",
    "alter table erp.sales_order drop constraint order_storefront_id_is_not_blank",
    "alter table erp.supplier drop constraint supplier_number_is_not_blank; alter table erp.supplier add constraint supplier_number_is_not_blank check (number <> '')",
  ],
  "constraint-user-error": [
    "comment on constraint fulfillment_number_is_unique on erp.fulfillment is null",
    "create schema novel; create table novel.t (marker uuid references erp.tag); grant insert on novel.t to service_writer",
  ],
  "definer-function":
    "create function erp.f() returns int security definer set search_path = pg_catalog language sql as 'select 1'; grant execute on function erp.f() to public",
  "definer-view": "alter view api_unstable.tags set (security_invoker = false)",
  deprecation:
    "comment on view api_unstable.tags is E'@primaryKey id\\n@requiresScopes tags:read\\n@deprecated name use label'",
  description: [
    "comment on column api_unstable.tags.name is null",
    "create table erp.t (id int)",
    "create function erp.f() returns int language sql as 'select 1'",
  ],
  "foreign-key-index": "create table erp.t (tag_id uuid references erp.tag)",
  "frozen-versions": "create view api_2026_06_unstable.t as select id from api_unstable.tags",
  "index-use": "create index on erp.tag (created_at)",
  "insert-order":
    "create function erp.f() returns void language sql set search_path = pg_catalog, pg_temp as $$ with made as (insert into erp.tag (name) select x.name from (select name from erp.tag order by name) x returning id) select from made $$",
  "one-scope-per-table":
    "create view api_unstable.t as select c.id from erp.customer c; comment on view api_unstable.t is E'@primaryKey id\\n@requiresScopes orders:read'",
  "moved-clock":
    "create or replace function ledger.moment() returns timestamptz language sql volatile return clock_timestamp() + interval '1 day'",
  "mutation-tags":
    "comment on function api_unstable.stock_set(api_unstable.stock_set_input) is E'@requiresScopes stocks:write\\n@userErrors TOO_BAD\\nSets stock.'",
  "never-null": [
    "comment on column api_unstable.batches.comment is E'@notNull\\nNote.'",
    "alter table erp.tag alter name drop not null",
    "comment on column api_unstable.countries.name is E'@notNull\\nName.'",
    "comment on column api_unstable.products.purchase_prices is E'@notNull\\nPrices.'",
    "create view api_unstable.t with (security_invoker = true) as select d.id, t.name from erp.batch d left join erp.tag t on t.id = d.id; comment on view api_unstable.t is E'@primaryKey id\\n@requiresScopes tags:read'; comment on column api_unstable.t.name is E'@notNull\\nName.'",
  ],
  "own-volatility": [
    "create function erp.f() returns float stable language sql return random()",
    "create function erp.f() returns void stable language plpgsql as 'begin insert into erp.tag (name) values (1); end'",
    "create function erp.f() returns float language sql return random(); create function erp.g() returns float stable language sql return erp.f()",
  ],
  ownership: [
    "grant insert on erp.tag to service_api",
    "set role none; alter table erp.tag owner to service_ledger",
  ],
  "public-rights": [
    "set role none; grant execute on function pg_notify(text, text) to public",
    "do $$ begin execute format('grant temporary on database %I to public', current_database()); end $$",
    "do $$ begin execute format('grant create on database %I to public', current_database()); end $$",
    "grant create on schema erp to public",
    "grant select on erp.tag to public",
  ],
  "policy-as-declared": [
    "comment on view api_unstable.tags is E'@primaryKey id\\n@requiresScopes labels:read'",
    "drop policy tag_select_api on erp.tag",
    "create policy open on erp.tag using (true)",
    "create policy closed on erp.tag as restrictive to service_api using (name <> 'a')",
  ],
  "readable-without-policy": "grant select on auth.credential to service_api",
  "read-function": "create function api_unstable.tag_count() returns bigint stable language sql return 1",
  "row-level-security": "create table erp.t (id int)",
  "scope-check": [
    "create or replace function auth.has_scope(variadic scopes text[]) returns boolean language sql stable return true",
    "create or replace function auth.has_scope(variadic scopes text[]) returns boolean language sql stable return false",
  ],
  "search-path": "create function erp.f() returns int language sql as 'select 1'",
  "search-index": [
    "comment on view api_unstable.tags is E'@primaryKey id\\n@requiresScopes tags:read\\n@search name'",
    "create view api_unstable.t as select name from erp.tag; comment on view api_unstable.t is E'@primaryKey name\\n@requiresScopes tags:read\\n@search name'",
  ],
  "sequence-room": [
    "create table erp.t (id int generated always as identity (maxvalue 10))",
    "create sequence erp.s; select setval('erp.s', 9e18::bigint)",
  ],
  "text-bound": "alter table erp.supplier drop constraint supplier_phone_length",
  "topic-scope": [
    "update events.topic set scope = 'tags:read' where name = 'order.created'",
    "comment on view api_unstable.events is E'@primaryKey id\\n@requiresScopes tags:read'",
  ],
  "unique-key": [
    "create view api_unstable.t as select tag_id from erp.batch_tag; comment on view api_unstable.t is '@primaryKey tag_id'",
    "create view api_unstable.t as select upper(name) as name from erp.tag; comment on view api_unstable.t is '@primaryKey name'",
  ],
  "upheld-rules": [
    "alter table erp.tag add constraint tag_is_short check (length(name) < 9) not enforced",
    "create or replace trigger uphold_figures before update of tracking_codes, state on erp.sales_order for each row execute function erp.uphold_figures_of_sales_order()",
    "create function erp.f() returns trigger language plpgsql as 'begin new.tracking_codes := null; return new; end'; create trigger z before update of tracking_codes on erp.sales_order for each row execute function erp.f()",
    "alter table erp.bin_location_tag alter constraint bin_location_tag_tag_id_fkey not enforced",
  ],
  "view-tags": [
    "comment on view api_unstable.tags is E'@primaryKey id\\n@requiresScopes tags:read\\n@filters nmae'",
    "comment on view api_unstable.tags is E'@primaryKey id'",
    "comment on view api_unstable.tags is E'@primaryKey id\\n@requiresScopes tags:read\\n@fliters name'",
  ],
};

describe("database lint", () => {
  const used = useDatabase("template_schema");

  it("has a mistake to find for each query, and each part of one", () => {
    assert.deepEqual(lints.map(({ name }) => name).sort(), Object.keys(mistakes).sort());
    for (const { name, query } of lints)
      assert.ok([mistakes[name]!].flat().length >= query.split(/^union\b/m).length, name);
  });

  for (const one of lints) {
    it(`${one.name}.sql finds nothing`, async () => {
      assert.deepEqual(await faultsOf(used.client, one), []);
    });
    it(`${one.name}.sql finds a mistake, and tells why and the remedy`, async () => {
      for (const mistake of [mistakes[one.name]!].flat()) {
        await used.client.query("begin");
        try {
          await used.client.query(mistake);
          const [found] = await runLint(used.client, one);
          assert.match(found?.object ?? "", /^\S/, mistake);
          assert.match(found!.why, /\.$/);
          assert.match(found!.remedy, /^\S.{10}/);
        } finally {
          await used.client.query("rollback");
        }
      }
    });
  }

  /** Mistakes in a schema that no list names. */
  const inNewSchema: Record<string, string> = {
    "constraint-user-error":
      "create table novel.t (code text primary key); create view api_unstable.ts as select code from novel.t; grant insert (code) on novel.t to service_writer",
    "definer-function":
      "create function novel.f() returns int security definer set search_path = pg_catalog, pg_temp language sql as 'select 1'; grant execute on function novel.f() to public",
    description: "create view novel.v as select 1 as one",
    "foreign-key-index": "create table novel.t (tag_id uuid references erp.tag)",
    "readable-without-policy": "create table novel.t (id int); grant select on novel.t to service_api",
    "row-level-security": "create table novel.t (id int)",
    "search-path": "create function novel.f() returns int language sql as 'select 1'",
  };
  for (const [name, mistake] of Object.entries(inNewSchema)) {
    it(`${name}.sql looks into schemas that were made just now`, async () => {
      await used.client.query("begin");
      try {
        await used.client.query(`create schema novel; ${mistake}`);
        const faults = await faultsOf(
          used.client,
          lints.find((lint) => lint.name === name)!,
        );
        assert.match(faults.join("\n"), /\bnovel\./);
      } finally {
        await used.client.query("rollback");
      }
    });
  }

  it("knows every role of db/roles.sql, and finds what each may not", async (t) => {
    const admin = new pg.Client({ connectionString: used.database.adminUrl });
    await admin.connect();
    t.after(() => admin.end());
    const text = await readFile(new URL("../../db/roles.sql", import.meta.url), "utf8");
    const named = [...new Set(text.match(/service_[a-z_]+/g))].sort();
    const { rows } = await admin.query<{ name: string; is_serving: boolean }>(
      "select name, is_serving from api_meta.own_role order by name",
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      named,
    );
    const lintOf = (name: string) => lints.find((lint) => lint.name === name)!;
    for (const { name } of rows.filter(({ is_serving: isServing }) => isServing)) {
      await admin.query("begin");
      await admin.query(
        `alter table erp.tag owner to ${name}; grant delete on ledger.stock_movement to ${name}`,
      );
      const owned = await faultsOf(admin, lintOf("ownership"));
      const changed = await faultsOf(admin, lintOf("append-only"));
      await admin.query("rollback");
      assert.ok(owned.includes(`erp.tag: ${name}`));
      assert.ok(changed.includes(`${name}: ledger.stock_movement: delete`));
    }
  });

  it("derives nothing new when run again", async () => {
    const snapshot = `select (select jsonb_agg(to_jsonb(p) order by polname) from pg_policy p) as policies,
      (select jsonb_agg(to_jsonb(d) order by objoid, objsubid) from pg_description d where classoid = 'pg_class'::regclass) as comments,
      (select jsonb_agg(relacl::text order by oid) from pg_class) as grants`;
    const { rows: before } = await used.client.query(snapshot);
    await used.client.query("select api_meta.derive()");
    const { rows: after } = await used.client.query(snapshot);
    assert.deepEqual(after, before);
  });
});
