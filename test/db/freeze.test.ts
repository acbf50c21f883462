import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { makePgService } from "postgraphile/adaptors/pg";
import { printVersion } from "../../src/versions/sdl.ts";
import { useDatabase } from "../lib/database.ts";

describe("freezing a version", () => {
  const used = useDatabase("template_schema");

  const sdlOf = async (schemaName: string) => {
    const pgService = makePgService({ connectionString: used.database.adminUrl, pubsub: false });
    try {
      return await printVersion({ schemaName }, pgService);
    } finally {
      await pgService.release?.();
    }
  };

  it("gives a clone with the same GraphQL schema, which later changes of unstable don't touch", async () => {
    await used.client.query("select api_meta.freeze('api_unstable', 'api_2027_01')");
    await used.client.query("select api_meta.derive()");
    const frozen = await sdlOf("api_2027_01");
    assert.equal(frozen, await sdlOf("api_unstable"));

    await used.client.query(`
      alter table erp.tag rename column name to label;
      alter table erp.tag rename to marker;
      alter table erp.marker add column color text;
      comment on column erp.product.gtin is 'Other words.';
      comment on column erp.marker.color is 'Color of the label.';
      create or replace view api_unstable.tags as select id, label as name, color from erp.marker;
      select api_meta.derive();`);
    assert.equal(await sdlOf("api_2027_01"), frozen);
    const head = await sdlOf("api_unstable");
    assert.match(head, /Color of the label/);
    assert.match(head, /Other words/);
  });

  it("lets the API read the clone through the same policies", async () => {
    await used.client.query(
      "insert into erp.country (iso_code, name) values ('DE', '{\"en-GB\": \"Germany\"}')",
    );
    const login = new pg.Client({ connectionString: used.database.loginUrl });
    await login.connect();
    for (const [scopes, expected] of [
      ["countries:read", [{ name: "Germany" }]],
      ["tags:read", []],
    ] as const) {
      await login.query("begin; set local role service_api");
      await login.query("select set_config('service.scopes', $1, true)", [scopes]);
      assert.deepEqual((await login.query("select name from api_2027_01.countries")).rows, expected);
      await login.query("commit");
    }
    await login.end();
  });
});

describe("what frozen versions consist of", () => {
  const used = useDatabase("template_schema");
  const version = "api_2026_06_unstable";

  /** Runs a migration with its last step, and undoes it all. Returns why it was refused. */
  const refusalOf = async (migration: string): Promise<string[]> => {
    await used.client.query("begin");
    try {
      await used.client.query(migration);
      await used.client.query("select api_meta.finish_migration()");
      return [];
    } catch (error) {
      assert.ok(error instanceof pg.DatabaseError);
      assert.equal(error.code, "UE090", error.message);
      assert.match(error.hint!, /record_version/);
      return error.detail!.split("\n");
    } finally {
      await used.client.query("rollback");
    }
  };

  const refused: Record<string, [migration: string, faults: string[]]> = {
    "a view that goes with a column of its table": [
      "alter table erp.salutation drop column letter_name cascade",
      [`${version}: view salutations is missing`],
    ],
    "a view that is dropped": [`drop view ${version}.tags`, [`${version}: view tags is missing`]],
    "a view that reads something else": [
      `create or replace view ${version}.tags with (security_invoker = true) as select id, upper(name) as name from erp.tag`,
      [`${version}: query of tags is another`],
    ],
    "a view that comes to it": [
      `create view ${version}.others with (security_invoker = true) as select id from erp.tag;
       comment on view ${version}.others is E'@primaryKey id\\n@requiresScopes tags:read\\nOthers.'`,
      [`${version}: view others is new`],
    ],
    "a column that comes to it": [
      `create or replace view ${version}.tags with (security_invoker = true) as select id, name, id as other from erp.tag`,
      [`${version}: column tags.other is new`, `${version}: query of tags is another`],
    ],
    "a description": [
      `comment on column ${version}.tags.name is E'@notNull\\nOther words.'`,
      [`${version}: column tags.name has another comment`],
    ],
    "tags of a view": [
      `comment on view ${version}.tags is E'@primaryKey id\\n@requiresScopes tags:read\\nOther words.'`,
      [`${version}: view tags has another comment`],
    ],
    "a view that reads past row-level security": [
      `alter view ${version}.tags set (security_invoker = false)`,
      [`${version}: view tags was: security_invoker; is: `],
    ],
    "a value of an enum": [
      `alter type ${version}.user_error_code add value 'NEW'`,
      [`${version}: type user_error_code was: REQUIRED`],
    ],
    "an attribute of an input": [
      `alter type ${version}.stock_adjust_input add attribute reason text`,
      [`${version}: attribute stock_adjust_input.reason is new`],
    ],
    "a function that is dropped": [
      `drop function ${version}.stock_adjust(${version}.stock_adjust_input)`,
      [`${version}: function stock_adjust(input ${version}.stock_adjust_input) is missing`],
    ],
    "a function that does something else": [
      `create or replace function ${version}.stock_adjust(input ${version}.stock_adjust_input) returns ${version}.stock_payload
       language plpgsql set search_path = pg_catalog, pg_temp as 'begin return null; end'`,
      [
        `${version}: body of stock_adjust(input ${version}.stock_adjust_input) is another`,
        `${version}: function stock_adjust(input ${version}.stock_adjust_input) was: returns ${version}.stock_payload, sql, v; is: returns ${version}.stock_payload, plpgsql, v`,
      ],
    ],
    "a column that was not null beneath one that is never null": [
      "alter table erp.tag alter name drop not null",
      [
        `${version}: tags.name may be null, which erp.tag.name no longer keeps out: keep it as it was, or coalesce in the version's view`,
      ],
    ],
    "the same, with rows that were not looked at": [
      `alter table erp.tag alter name drop not null; alter table erp.tag rename column name to label;
       alter table erp.tag add constraint tag_has_label not null label not valid`,
      [`${version}: tags.name may be null, which erp.tag.name no longer keeps out`],
    ],
    "a column beneath an expression": [
      "alter table erp.product_price alter net drop not null",
      [`${version}: products may be null, which erp.product_price.net no longer keeps out`],
    ],
    "the whole of it": [`drop schema ${version} cascade`, [`${version}: schema ${version} is missing`]],
    "a version that was made by hand": [
      "create schema api_2027_04",
      [
        "api_2027_04: is not recorded: api_meta.freeze makes versions, api_meta.record_version notes what they consist of",
      ],
    ],
  };
  for (const [what, [migration, faults]] of Object.entries(refused)) {
    it(`are kept: ${what}`, async () => {
      const found = await refusalOf(migration);
      assert.equal(found.length, faults.length, found.join("\n"));
      for (const [i, fault] of faults.entries()) assert.ok(found[i]!.startsWith(fault), found[i]);
    });
  }

  it("rely on a domain, a check, and what a view between reads; not on what may be null in them", async () => {
    const made = `create domain erp.label as text not null;
      create table erp.sticker (id uuid primary key, label erp.label, note text, texts jsonb not null,
        constraint sticker_has_note check (note is not null),
        constraint sticker_texts_are_objects check (erp.are_translations(texts)));
      alter table erp.sticker enable row level security;
      create view erp.shown_sticker with (security_invoker = true) as select * from erp.sticker;
      create type api_unstable.sticker_text as (locale text, name text);
      comment on type api_unstable.sticker_text is 'Text.';
      create view api_unstable.stickers with (security_invoker = true) as
      select id, label, note, array(
        select row (t.key, t.value ->> 'name')::api_unstable.sticker_text from jsonb_each(s.texts) t
      ) as texts from erp.shown_sticker s;
      comment on view api_unstable.stickers is E'@primaryKey id\\n@requiresScopes tags:read\\nStickers.';
      comment on column api_unstable.stickers.label is E'@notNull\\nLabel.';
      comment on column api_unstable.stickers.note is E'@notNull\\nNote.';
      select api_meta.freeze('api_unstable', 'api_2027_04');`;
    const tables = [
      "alter domain erp.label drop not null",
      "alter table erp.sticker drop constraint sticker_has_note",
    ];
    const checks = ["alter table erp.sticker drop constraint sticker_texts_are_objects"];
    for (const [change, fault] of [
      [tables[0]!, "stickers.label may be null, which erp.sticker.label no longer keeps out"],
      [tables[1]!, "stickers.note may be null, which erp.sticker.note no longer keeps out"],
      [checks[0]!, "stickers may be null, which sticker_texts_are_objects of erp.sticker, CHECK "],
    ] as const) {
      const [found = "", ...more] = await refusalOf(`${made} ${change}`);
      assert.ok(found.startsWith(`api_2027_04: ${fault}`), found);
      assert.deepEqual(more, []);
    }
    assert.deepEqual(await refusalOf("alter table erp.document alter static drop not null"), []);
  });

  it("may be read from columns that may be null, through coalesce, when that is said", async () => {
    const dropped = "alter table erp.tag alter name drop not null;";
    assert.deepEqual(
      await refusalOf(`${dropped} create or replace view ${version}.tags with (security_invoker = true) as
        select id, coalesce(name, '') as name from erp.tag; select api_meta.record_version('${version}')`),
      [],
    );
    assert.equal((await refusalOf(`${dropped} select api_meta.record_version('${version}')`)).length, 1);
  });

  it("may be read from tables of other names", async () => {
    assert.deepEqual(
      await refusalOf(
        "alter table erp.tag rename column name to label; alter table erp.tag rename to marker",
      ),
      [],
    );
  });

  it("can be added to when that is said", async () => {
    const added = `create or replace view ${version}.tags with (security_invoker = true) as select id, name, id as other from erp.tag`;
    assert.deepEqual(await refusalOf(`${added}; select api_meta.record_version('${version}')`), []);
    assert.deepEqual(
      await refusalOf(`drop schema ${version} cascade; select api_meta.forget_version('${version}')`),
      [],
    );
  });

  it("are known again after tables were renamed and a dump was restored, where all has other numbers", async () => {
    await used.client.query("begin");
    try {
      await used.client.query("alter table erp.tag rename to marker; select api_meta.finish_migration()");
      await used.client.query(
        "update api_meta.frozen_part set tree = 'other numbers' where tree is not null",
      );
      await used.client.query("update api_meta.frozen_promise set tree = 'other numbers'");
      await used.client.query("select api_meta.finish_migration()");
      const { rows } = await used.client.query(
        `select from api_meta.frozen_part where tree = 'other numbers'
         union all select from api_meta.frozen_promise where tree = 'other numbers' or ground ~ 'erp.tag\\.'`,
      );
      assert.equal(rows.length, 0, "and noted by their new numbers");
      await used.client.query("alter table erp.marker rename to tag; select api_meta.finish_migration()");
    } finally {
      await used.client.query("rollback");
    }
  });

  it("are frozen with what follows from unstable, and are not frozen twice", async () => {
    await used.client.query("begin");
    try {
      await used.client.query(`
        alter table erp.tag add column color text not null default 'red';
        comment on column erp.tag.color is 'Color of the label.';
        create or replace view api_unstable.tags as select id, name, color from erp.tag;
        select api_meta.freeze('api_unstable', 'api_2027_04')`);
      const { rows } = await used.client.query(
        "select definition from api_meta.frozen_part where version = 'api_2027_04' and name = 'tags.color'",
      );
      assert.deepEqual(rows, [{ definition: "3. text\n@notNull\nColor of the label." }]);
      await assert.rejects(used.client.query("select api_meta.freeze('api_unstable', 'api_2027_04')"), {
        code: "42P06",
      });
    } finally {
      await used.client.query("rollback");
    }
  });
});
