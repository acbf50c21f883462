import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Finding } from "../../src/check/finding.ts";
import { lints } from "../../src/check/lints.ts";
import { useDatabase } from "../lib/database.ts";
import { findingsOf } from "./support.ts";

const begin = "create function api_unstable.";

/** Functions that can't be fields, with what is said of them. */
const cases: [sql: string, fault: RegExp][] = [
  ["tag_count() returns bigint stable return 1", /its first argument is no row of a view of api_unstable/],
  [
    "tags_and_more(tag api_unstable.tags, out a int, out b int) stable return (1, 2)",
    /returns record, which is no value, and neither a view of api_unstable with a @primaryKey nor a type of it/,
  ],
  [
    "one_tag() returns erp.tag stable begin atomic select * from erp.tag limit 1; end",
    /returns erp\.tag, which is no value, and neither a view of api_unstable .*: a list returns setof a view/,
  ],
  [
    "some_tags(tag api_unstable.tags) returns api_unstable.tags[] stable return array[tag]",
    /returns api_unstable\.tags\[\], which is no value/,
  ],
  [
    "tag_figures() returns api_unstable.figures stable return row(1)::api_unstable.figures",
    /has no tag @requiresScopes/,
  ],
  [
    "tag_table() returns setof erp.tag stable begin atomic select * from erp.tag; end",
    /returns setof erp\.tag, which is no view of api_unstable/,
  ],
  ["tags_names(tag api_unstable.tags) returns setof text stable return tag.name", /returns setof text/],
  [
    "tags_joined(tag api_unstable.tags, variadic more text[]) returns text stable return tag.name",
    /takes a variable number of arguments/,
  ],
  ["tags_left(tag api_unstable.tags, int) returns text stable return left(tag.name, $2)", /\$2 has no name/],
  [
    "tags_like(tag api_unstable.tags, other api_unstable.tags) returns text stable return tag.name",
    /its argument other is api_unstable\.tags, of which clients can give no value/,
  ],
  [
    "tags_name(tag api_unstable.tags) returns text stable return tag.name",
    /would be called as the column name/,
  ],
  [
    "tags_cut(tag api_unstable.tags, a int) returns text stable return tag.name; " +
      `${begin}tags_cut(tag api_unstable.tags, b text) returns text language sql stable return tag.name`,
    /has the same name as api_unstable\.tags_cut\(api_unstable\.tags,integer\)/,
  ],
  [
    "notes_long(note api_unstable.notes) returns int stable return length(note.text)",
    /neither it nor api_unstable\.notes has a tag @requiresScopes/,
  ],
];

const text = [
  "create type api_unstable.figures as (number integer);",
  "create view api_unstable.notes as select id, name as text from erp.tag;",
  "comment on view api_unstable.notes is '@primaryKey id';",
  ...cases.map(([sql]) => `${begin}${sql.replace(/ stable /, " language sql stable ")};`),
].join("\n");

describe("the check of stable functions", () => {
  const used = useDatabase("template_schema");
  let found: Finding[];
  before(async () => {
    const findings = await findingsOf(used.client, text, { only: [lints] });
    found = findings.filter(({ rule }) => rule === "read-function");
  });

  for (const [sql, fault] of cases) {
    const name = sql.replace(/\(.*/, "");
    it(`says of ${name}: ${fault.source}`, () => {
      const finding = found.find(({ object, what }) => object!.includes(`.${name}(`) && fault.test(what));
      assert.ok(finding, JSON.stringify(found.map(({ object, what }) => [object, what])));
      assert.deepEqual([finding.severity, finding.file], ["error", "db/current/5-try.sql"]);
    });
  }
});
