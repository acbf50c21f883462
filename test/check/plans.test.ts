import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type pg from "pg";
import type { Finding } from "../../src/check/finding.ts";
import { indexUse } from "../../src/check/plans/index-use.ts";
import { policies } from "../../src/check/plans/policies.ts";
import { useDatabase } from "../lib/database.ts";
import { findingsOf } from "./support.ts";

const found = async (client: pg.Client, text: string): Promise<Finding[]> => {
  const all = await findingsOf(client, `${text}\nselect api_meta.finish_migration();`, {
    only: [indexUse, policies],
  });
  // Its policy is waived for good
  return all.filter(({ object }) => object !== "events.delivery_attempt");
};

/** A table of notes on tags, and the view of it. */
const notes = (more: { indexes?: string; policy?: string; view?: string } = {}) => `create table erp.note (
  id uuid primary key default uuidv7(),
  tag_id uuid references erp.tag on delete cascade,
  text text not null,
  weight numeric,
  words text[],
  is_open boolean
);
comment on table erp.note is 'A note.';
alter table erp.note enable row level security;
${more.indexes ?? ""}
${more.policy ?? ""}

create view api_unstable.notes with (security_invoker = true) as
${more.view ?? "select id, tag_id, text, weight, words, is_open from erp.note"};
comment on view api_unstable.notes is $$
@primaryKey id
@requiresScopes tags:read
@filters *,words
@foreignKey (tag_id) references tags (id)|@fieldName tag|@foreignFieldName notes
A note.$$;`;

const indexes = `create index on erp.note (tag_id);
create index on erp.note (text);
create index on erp.note (text collate "C");
create index on erp.note (weight);
create index on erp.note using gin (words);`;

describe("the check of plans", () => {
  const used = useDatabase("template_schema");

  it("finds nothing in the project as it is", async () => {
    const findings = await found(used.client, "select 1;");
    assert.deepEqual(findings, []);
  });

  it("finds filters and relations that no index answers, in what is being written", async () => {
    const findings = await found(used.client, notes());
    assert.deepEqual(
      findings.map(({ rule, severity, file, line, object, what }) => [
        rule,
        severity,
        file,
        line,
        object,
        what,
      ]),
      [
        ["relation-without-index", "warning", "db/current/5-try.sql", 14, "api_unstable.notes", "by tag_id"],
        [
          ...["filter-without-index", "note", "db/current/5-try.sql", 14, "api_unstable.notes"],
          "equals of tag_id, equals of text, startsWith of text, equals of weight, contains of words",
        ],
      ],
    );
    assert.match(findings[1]!.why, /reads the whole table/);
    assert.match(findings[1]!.remedy, /create an index that begins with the column.*leave the column out/);
  });

  it("tells comparisons for which an index can't help behind policies from those that lack one", async () => {
    const findings = await found(used.client, notes({ indexes }));
    assert.deepEqual(
      findings.map(({ rule, what }) => [rule, what]),
      [["filter-without-index", "equals of weight, contains of words"]],
    );
    assert.match(findings[0]!.why, /isn't leakproof/);
  });

  it("finds lists that have to be sorted", async () => {
    const view =
      "select (array_agg(id))[1] as id, tag_id, max(text) as text, null::numeric as weight, null::text[] as words, null::boolean as is_open from erp.note group by tag_id";
    const findings = await found(used.client, notes({ indexes, view }));
    const [sorted] = findings.filter(({ rule }) => rule === "order-without-index");
    assert.deepEqual([sorted?.object, sorted?.what], ["api_unstable.notes", "in the order of id"]);
  });

  it("leaves what a comment waives", async () => {
    const waiver = "-- waive filter-without-index api_unstable.notes: a hundred notes\n";
    const findings = await found(used.client, waiver + notes());
    assert.deepEqual(
      findings.map(({ rule, waived }) => [rule, waived]),
      [
        ["relation-without-index", undefined],
        ["filter-without-index", "a hundred notes"],
      ],
    );
  });

  it("warns of the same in committed views once their tables are large", async () => {
    const before = await found(used.client, "select 1;");
    assert.deepEqual(before, []);
    const stats = (schema: string, table: string) =>
      `select pg_restore_relation_stats('schemaname', '${schema}', 'relname', '${table}', 'reltuples', 50000::real);`;
    const large = stats("events", "event") + stats("erp", "warehouse");
    const [finding] = await found(used.client, large);
    assert.deepEqual(
      [finding?.rule, finding?.severity, finding?.object],
      ["filter-without-index", "warning", "api_unstable.warehouses"],
    );
  });

  for (const [policy, costs] of [
    ["using (erp.is_open(is_open))", /^calls erp\.is_open\(\) for each row$/],
    [
      "using (exists (select from erp.tag t where t.id = note.tag_id and t.name <> note.text))",
      /^runs a sub-select for each row$/,
    ],
    ["using (current_setting('service.locale') <> text)", /^calls current_setting\(\) for each row$/],
    ["using (text = any ((select array['a'])::text[]))", null],
  ] as const)
    it(`${costs ? "finds" : "lets pass"} the policy ${policy}`, async () => {
      const made = `create function erp.is_open(flag boolean) returns boolean stable language plpgsql
        set search_path = pg_catalog, pg_temp as $f$ begin return flag; end $f$;
        grant execute on function erp.is_open(boolean) to service_api;
        create policy note_is_open on erp.note as restrictive for select to service_api ${policy};`;
      const findings = await found(used.client, notes({ indexes, policy: made }));
      const ofPolicy = findings.filter(({ rule }) => rule === "costly-policy");
      assert.equal(ofPolicy.length, costs ? 1 : 0, JSON.stringify(findings));
      if (costs) {
        assert.match(ofPolicy[0]!.what, costs);
        assert.equal(ofPolicy[0]!.object, "erp.note");
      }
    });
});
