import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import type pg from "pg";
import { catalogQuery } from "../../plugins/index.ts";
import { apiDiff } from "../../src/check/api-diff.ts";
import { check } from "../../src/check/check.ts";
import { dangerousDdl } from "../../src/check/ddl/ddl.ts";
import type { Finding } from "../../src/check/finding.ts";
import type { CheckStep } from "../../src/check/check-source.ts";
import { runLint, readLints } from "../../src/check/lints.ts";
import { printFindings } from "../../src/check/report.ts";
import type { ApiState } from "../../src/check/state.ts";
import { readState } from "../../src/check/state.ts";
import { explainFailures, runStatements } from "../../src/migrations/migration-failure.ts";
import { joinFiles, includeFixtures } from "../../src/migrations/migration-files.ts";
import { Project } from "../commands/project.ts";
import { useDatabase } from "../lib/database.ts";
import { query, startService } from "../lib/service.ts";

/** A row of the table in docs/reference/mistakes.md. */
interface Mistake {
  name: string;
  sql: string;
  message: string;
}

const text = await readFile(new URL("../../docs/reference/mistakes.md", import.meta.url), "utf8");
const mistakes: Mistake[] = [...text.matchAll(/^\| (.+?) +\| (.+?) +\| `(.+)` +\|$/gm)].map(
  ([, name, sql, message]) => ({ name: name!, sql: sql!, message: message! }),
);

/** Whether a text has the words of a message, whatever its lines are; … stands for any. */
function assertSays(found: string, { message }: Pick<Mistake, "message">): void {
  const words = (one: string) => RegExp.escape(one.replace(/\s+/g, " ").trim());
  const wanted = new RegExp(message.split("…").map(words).join(".*"));
  assert.match(found.replace(/\s+/g, " "), wanted);
}

describe("the mistakes of docs/reference/mistakes.md", () => {
  const used = useDatabase("template_schema");
  let state: ApiState;
  before(async () => {
    state = await readState(used.client, used.database.ownerUrl);
  });

  test("are thirty, each with its message", () => {
    assert.ok(mistakes.length >= 30, String(mistakes.length));
    for (const { message } of mistakes) assert.ok(message.replaceAll("…", "").length > 20, message);
  });

  for (const mistake of mistakes.filter(({ sql }) => /^`[a-z-].*`$/.test(sql) && !/^`db\//.test(sql)))
    test(mistake.name, async () => assertSays(await saidOf(mistake), mistake));

  test("nothing of them is left", async () => {
    const { sdl, events, parts } = await readState(used.client, used.database.ownerUrl);
    assert.deepEqual({ sdl, events, parts }, state);
  });

  const lintNamed = (rule: string): CheckStep => ({
    name: rule,
    async find({ client }) {
      const lint = (await readLints()).find(({ name }) => name === rule);
      return lint ? runLint(client, lint) : [];
    },
  });

  /** What erp db check says of a migration, with the comparison of the API only where that says it. */
  async function saidOf({ sql, message }: Mistake): Promise<string> {
    const { client } = used;
    const current = [{ name: "5-try.sql", text: sql.slice(1, -1).replaceAll("\\|", "|") + "\n" }];
    await client.query("begin");
    try {
      const failure = await failureOf(client, current[0]!.text);
      if (failure !== null) return failure;
      const [, rule] = /^\w+ ([a-z-]+)/.exec(message)!;
      const isOfApi = /^api-/.test(rule!);
      // All of the check takes a second, so only the part that is named
      const only = isOfApi ? [apiDiff] : [dangerousDdl, lintNamed(rule!)];
      return printFindings(
        await check(client, { current, only, before: state, after: () => stateIn(client) }),
      );
    } finally {
      await client.query("rollback");
    }
  }

  /** Why it can't be run, in a transaction that goes on; null when it can. */
  async function failureOf(client: pg.Client, body: string): Promise<string | null> {
    try {
      const script = await includeFixtures(body);
      await explainFailures("db/current (5-try.sql)", script, async () => {
        await runStatements(client, script);
        await client.query("select api_meta.finish_migration()");
      });
      return null;
    } catch (error) {
      await client.query("rollback; begin");
      return (error as Error).message;
    }
  }

  /** What clients would see of what a transaction has changed. */
  async function stateIn(client: pg.Client): Promise<ApiState> {
    const { rows } = await client.query(catalogQuery, [["api_unstable"]]);
    return readState(client, used.database.ownerUrl, rows[0].introspection);
  }
});

test("a mistake that is made by hand, past all checks, stops no service", async (t) => {
  const service = await startService();
  t.after(() => service.close());
  const token = await service.token();
  const works = async () => assert.equal((await service.ask(token, { query })).body.errors, undefined);
  const { sql } = mistakes.find(({ name }) => name === "A relation to a table instead of its view")!;
  const { rows } = await service.owner.query(
    "select obj_description('api_unstable.batches'::regclass, 'pg_class') as note",
  );
  await service.owner.query(sql.slice(1, -1));
  await assert.rejects(service.app.reload(), /referenced non-existent table/);
  await works();
  const client = await service.owner.connect();
  await client.query(`comment on view api_unstable.batches is ${client.escapeLiteral(rows[0].note)}`);
  client.release();
  await service.app.reload();
  await works();
});

describe("mistakes in files", () => {
  let project: Project;
  before(async () => void (project = await Project.copy()));
  after(() => project.remove());
  const rowOf = (wanted: string) => mistakes.find(({ name }) => name === wanted)!;

  test("a fixture that is changed, and not included", async () => {
    const fixture = "db/fixtures/api/tags.sql";
    await project.write(fixture, (await project.read(fixture)).replace("A label", "A sticker"));
    const { forgottenFixtures } =
      await project.import<typeof import("../../src/check/fixtures.ts")>("src/check/fixtures.ts");
    const findings = (await forgottenFixtures.find({ scripts: [] } as never)) as Finding[];
    assert.equal(findings.length, 1);
    assertSays(printFindings(findings), rowOf("A fixture that is changed, and not included"));
  });

  test("two files with one number", () => {
    const files = ["5-a.sql", "5-b.sql"].map((name) => ({ name, text: "select 1;" }));
    assert.throws(
      () => joinFiles(files),
      (error: Error) => {
        assertSays(error.message, rowOf("Two files with one number"));
        return true;
      },
    );
  });
});
