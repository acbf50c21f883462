import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check } from "../../src/check/check.ts";
import type { CheckStep } from "../../src/check/check-source.ts";
import { runLint, readLints } from "../../src/check/lints.ts";
import { printFindings } from "../../src/check/report.ts";
import { useDatabase } from "../lib/database.ts";
import { findingsOf } from "./support.ts";

/** A rule for each kind of object: all of them take a second. */
const lints = (await readLints()).filter(({ name }) =>
  /^(row-level-security|ownership|definer-function)$/.test(name),
);
const some: CheckStep[] = lints.map((lint) => ({
  name: lint.name,
  find: ({ client }) => runLint(client, lint),
}));

describe("the check", () => {
  const used = useDatabase("template_schema");

  test("finds nothing in the project as it is that would refuse it", async () => {
    const findings = await check(used.client);
    const refusing = findings.filter(({ severity, waived }) => severity === "error" && waived === undefined);
    assert.deepEqual(refusing, []);
  });

  test("says file and line of what is being written, the rule, why, and the remedy", async () => {
    const text = "-- Leave of absence\n\ncreate table erp.leave (\n  id uuid primary key\n);\n";
    const findings = await findingsOf(used.client, text, { only: some });
    const [finding] = findings.filter(({ rule }) => rule === "row-level-security");
    assert.deepEqual(finding, {
      ...{ rule: "row-level-security", severity: "error", file: "db/current/5-try.sql", line: 3 },
      ...{ object: "erp.leave", what: "", remedy: "alter table erp.leave enable row level security" },
      why: "Tables without row-level security. A grant alone, made by mistake, would open all of their rows.",
    });
    assert.match(
      printFindings(findings),
      /error row-level-security\n {2}db\/current\/5-try\.sql:3 erp\.leave\n {2}Tables without row-level security\. .*\n {2}Remedy: alter table erp\.leave enable/,
    );
  });

  test("points at the statement that spoils what is there", async () => {
    const text = "select 1;\n\ngrant insert on erp.tag\n  to service_api;";
    const [finding] = await findingsOf(used.client, text, { only: some });
    assert.deepEqual([finding!.rule, finding!.file, finding!.line], ["ownership", "db/current/5-try.sql", 3]);
  });

  test("points at the fixture of a function that was spoilt by hand, and at the migration of a table", async () => {
    await used.client.query("begin");
    try {
      await used.client.query("grant execute on function auth.record_use(jsonb) to public");
      await used.client.query("alter table erp.tag disable row level security");
      const findings = await check(used.client, { current: [], only: some });
      const placeOf = (rule: string) => findings.find((one) => one.rule === rule);
      assert.equal(placeOf("definer-function")!.file, "db/fixtures/auth/record_use.sql");
      assert.equal(placeOf("definer-function")!.line, 1);
      assert.match(placeOf("row-level-security")!.file!, /^db\/committed\/\d+-.*\.sql$/);
    } finally {
      await used.client.query("rollback");
    }
  });

  test("leaves what a comment waives with a reason, above the statement or by the object's name", async () => {
    const table = "create table erp.leave (id uuid primary key);\ncomment on table erp.leave is 'Leave.';";
    const above = await findingsOf(used.client, `-- waive row-level-security: it is empty\n${table}`, {
      only: some,
    });
    const named = await findingsOf(
      used.client,
      `${table}\n-- waive row-level-security erp.leave: it is empty`,
      { only: some },
    );
    for (const findings of [above, named]) {
      const [finding] = findings.filter(({ rule }) => rule === "row-level-security");
      assert.equal(finding!.waived, "it is empty");
      assert.match(printFindings(findings), /waived row-level-security .*erp\.leave \(it is empty\)/);
    }
    const other = await findingsOf(
      used.client,
      `-- waive row-level-security erp.tag: it is empty\n${table}`,
      { only: some },
    );
    assert.equal(other.find(({ rule }) => rule === "row-level-security")!.waived, undefined);
  });

  test("refuses a waiver without a reason", async () => {
    const text = "-- waive row-level-security\ncreate table erp.leave (id uuid primary key);";
    const findings = await findingsOf(used.client, text, { only: some });
    const found = (wanted: string) => findings.find(({ rule }) => rule === wanted)!;
    assert.equal(found("waiver").what, "waives row-level-security without a reason");
    assert.equal(found("row-level-security").waived, undefined);
  });

  test("says of what Postgres can't read where that is, also in a fixture", async () => {
    const findings = await check(used.client, {
      current: [{ name: "5-try.sql", text: "select 1;\n\nselect 'ü';\ncreate tabel erp.x (id int);" }],
    });
    const [syntax] = findings.filter(({ rule }) => rule === "syntax");
    assert.deepEqual([syntax!.file, syntax!.line], ["db/current/5-try.sql", 4]);
  });

  test("says so when a part of it can't be run", async () => {
    const find = () => Promise.reject(new Error("no such thing"));
    const [finding] = await check(used.client, { current: [], only: [{ name: "broken", find }] });
    assert.deepEqual(
      [finding!.rule, finding!.severity, finding!.what],
      ["unchecked", "error", "no such thing"],
    );
  });
});
