import assert from "node:assert/strict";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { withClient } from "../../src/postgres/client.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { Project } from "../commands/project.ts";
import { until } from "../lib/until.ts";

type Templates = typeof import("../../src/migrations/templates.ts");

const adminUrl = process.env.TEST_ADMIN_URL!;

// On a copy of the project, which gets migrations that no template has
let project: Project;
let withCommitted: Templates["withCommitted"];
before(async () => {
  project = await Project.copy();
  await project.commitCurrent();
  ({ withCommitted } = await project.import<Templates>("src/migrations/templates.ts"));
});
after(() => project.remove());

const databases = () =>
  withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>("select datname as name from pg_database");
    return rows.map(({ name }) => name);
  });
const inDatabase = (name: string) => Object.assign(new URL(adminUrl), { pathname: `/${name}` }).href;
const has = (url: string, relation: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query("select to_regclass($1) is not null as found", [relation]);
    return rows[0].found as boolean;
  });
const found = (relation: string) => withCommitted(adminUrl, (url) => has(urlAsOwner(url), relation));

test("databases of the same migrations are copies of one template, also when several are made at once", async () => {
  await project.commit("colors", "create table erp.color (id uuid primary key);");
  const before = await databases();
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => found("erp.color"))), [true, true, true]);
  const made = (await databases()).filter((name) => !before.includes(name) && !name.startsWith("test_"));
  // Other test files make such databases, too; all but templates are gone in the end
  const templates = made.filter((name) => name.startsWith("service_template_schema_"));
  const withColors = await Promise.all(templates.map((name) => has(inDatabase(name), "erp.color")));
  assert.equal(withColors.filter(Boolean).length, 1);
  const passing = made.filter((name) => /^(new_template|rehearsal)_/.test(name));
  await until(async () => !(await databases()).some((name) => passing.includes(name)));
  await project.uncommit();
  assert.equal(await found("erp.color"), false);
});

test("the rights of a database are those of one that was set up", () =>
  withCommitted(adminUrl, (url) =>
    withClient(urlAsOwner(url), async (client) => {
      const { rows } = await client.query(
        "select has_database_privilege('service_login', current_database(), 'temporary') as temporary, has_database_privilege('service_login', current_database(), 'connect') as connect",
      );
      assert.deepEqual(rows, [{ temporary: false, connect: true }]);
    }),
  ));

test("a migration that was changed after it was committed is refused, though there is a template of what it was", async () => {
  await project.commit("shapes", "create table erp.shape (id uuid primary key);");
  assert.equal(await found("erp.shape"), true);
  const file = (await project.list("db/committed")).at(-1)!;
  await chmod(join(project.path, "db/committed", file), 0o644);
  await project.write(
    `db/committed/${file}`,
    (await project.read(`db/committed/${file}`)).replace("uuid", "bigint"),
  );
  await assert.rejects(found("erp.shape"), /has been changed since it was committed/);
  await project.uncommit();
});
