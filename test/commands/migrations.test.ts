import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, afterEach, before, describe, test } from "node:test";
import pg from "pg";
import { Project } from "./project.ts";
import type { CommandProcess } from "./process.ts";
import { readCatalogue, describeDifferences } from "../lib/catalogue.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

const execute = promisify(execFile);

// On a copy of the project with its own database, as developers and operators have them
let project: Project;
let database: TestDatabase;
let owner: pg.Client;
let settings: Record<string, string>;
let asBefore: Map<string, string>;
before(async () => {
  project = await Project.copy({ versions: "head" });
  await project.commitCurrent();
  database = await project.database();
  settings = { DATABASE_URL: database.adminUrl };
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  asBefore = await readCatalogue(owner);
});
after(async () => {
  await owner.end();
  await database.close();
  await project.remove();
});

const has = async (relation: string) =>
  (await owner.query("select to_regclass($1) is not null as found", [relation])).rows[0].found as boolean;
const assertUntouched = async () =>
  assert.deepEqual(describeDifferences(asBefore, await readCatalogue(owner)), []);

/** Migrations that are refused, and the expected messages. */
const refused: Record<string, { text: string; says: RegExp[] }> = {
  "of which nothing can be derived": {
    // Views follow a renamed column, but the declaration of the events has its old name
    text: `create table erp.half (id uuid primary key);
      alter table erp.supplier_order rename column payment_state to paid;`,
    says: [
      /could not be derived: Events about SupplierOrder show paymentState, but erp\.supplier_order has no column payment_state/,
      /api_meta\.finish_migration\(\)/,
    ],
  },
  "that would change a frozen version": {
    text: `create table erp.half (id uuid primary key);
      alter table erp.salutation drop column letter_name cascade;`,
    says: [
      /A frozen version of the API would change/,
      /api_2026_06_unstable: view salutations is missing/,
      /record_version/,
    ],
  },
  "with a fault in a fixture": {
    text: "create table erp.half (id uuid primary key);\n--!include broken.sql",
    says: [/syntax error at or near "brake"/],
  },
  "with a fault of which Postgres tells no place": {
    text: "create table erp.half (id uuid primary key);\n--!include twice.sql",
    says: [/twice\.sql, line 4, which db\/current\/5-try\.sql includes: relation "tag" already exists/],
  },
};

/** What only the building of the API finds. */
const unservable: typeof refused = {
  "of which no API can be built": {
    text: `create table erp.half (id uuid primary key);
      comment on view api_unstable.tags is E'@primaryKey id\\n@requiresScopes tags:read\\n@foreignKey (name) references nowhere (id)';`,
    says: [/The API can't be built from it: .*nowhere/],
  },
};

describe("erp db watch", () => {
  let watching: CommandProcess;
  before(async () => {
    await project.write("db/fixtures/broken.sql", "-- A comment\n\nselect 1;\nbrake;\n");
    await project.write(
      "db/fixtures/twice.sql",
      "select 'ä;';\n\n-- It is there\ncreate table erp.tag (id uuid);\n",
    );
    watching = project.start(["db", "watch"], settings);
    await watching.said(/The API follows the database/);
  });
  after(async () => {
    watching.kill("SIGINT");
    assert.equal(await watching.ended, 0, watching.output());
    for (const name of ["broken", "twice"]) await rm(join(project.path, `db/fixtures/${name}.sql`));
  });
  afterEach(() => rm(join(project.path, "db/current/5-try.sql"), { force: true }));

  for (const [what, { text, says }] of Object.entries({ ...refused, ...unservable })) {
    test(`keeps nothing of a migration ${what}, and says why`, async () => {
      const length = watching.output().length;
      await project.write("db/current/5-try.sql", text);
      const said = () => watching.output().slice(length);
      const all = [/5-try\.sql\) failed, and nothing of it was kept:/, ...says];
      await until(() => all.every((pattern) => pattern.test(said()))).catch(() => {});
      for (const pattern of all) assert.match(said(), pattern);
      assert.doesNotMatch(watching.output(), /\n\s+at /);
      await assertUntouched();
    });
  }

  test("names file and line of a fault", () =>
    assert.match(
      watching.output(),
      /db\/fixtures\/broken\.sql, line 4, which db\/current\/5-try\.sql includes: syntax error/,
    ));

  test("runs one that is right, derives with it, and again at each change", async () => {
    const table = (
      name: string,
    ) => `drop view if exists api_unstable.novelties; drop table if exists erp.novelty;
      create table erp.novelty (id uuid primary key, ${name} text not null);
      alter table erp.novelty enable row level security;
      comment on column erp.novelty.${name} is 'How it is called.';
      create view api_unstable.novelties with (security_invoker = true) as select id, ${name} from erp.novelty;
      comment on view api_unstable.novelties is E'@primaryKey id\\n@requiresScopes tags:read\\nNew.';`;
    for (const name of ["name", "title"]) {
      await project.write("db/current/5-try.sql", table(name));
      const column =
        "select from pg_attribute where attrelid = to_regclass('api_unstable.novelties') and attname = $1";
      await until(async () => (await owner.query(column, [name])).rows.length > 0);
      const { rows } = await owner.query(
        `select col_description('api_unstable.novelties'::regclass, 2) as note,
           has_column_privilege('service_api', 'erp.novelty', $1, 'select') as readable,
           (select count(*)::int from pg_policy where polrelid = 'erp.novelty'::regclass) as policies`,
        [name],
      );
      assert.deepEqual(rows, [{ note: "@notNull\nHow it is called.", readable: true, policies: 1 }]);
    }
    await owner.query("drop view api_unstable.novelties; drop table erp.novelty");
  });
});

// Each is refused by the same function, as erp db watch shows for all
const [underived, unfrozen] = Object.values(refused);

test("a file that root has made, and others may not read, is named with what helps", async () => {
  const path = join(project.path, "db/current/6-hidden.sql");
  await writeFile(path, "select 1;", { mode: 0 });
  await chmod(project.path, 0o755);
  const program = `
    import { readCurrent } from ${JSON.stringify(join(project.path, "src/migrations/migration-files.ts"))};
    await readCurrent().catch(({ message }) => console.log(message));`;
  // Root may read all, and the service that it starts is another user
  const user = process.getuid!() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const { stdout } = await execute(process.execPath, ["--input-type=module", "-e", program], {
    ...user,
    cwd: "/",
  });
  await rm(path);
  assert.match(
    stdout,
    /^The user \d+, as whom this runs, may not read db\/current\/6-hidden\.sql: chmod a\+r /,
  );
});

test("erp db commit refuses a migration of which nothing can be derived, and leaves all as it was", async () => {
  const { text, says } = underived!;
  const committed = await project.list("db/committed");
  await project.write("db/current/5-try.sql", text);
  const { code, output } = await project.run(["db", "commit", "try"], settings);
  assert.equal(code, 1, output);
  for (const pattern of says) assert.match(output, pattern);
  assert.deepEqual(await project.list("db/committed"), committed);
  assert.equal(await project.read("db/current/5-try.sql"), text);
  await rm(join(project.path, "db/current/5-try.sql"));
  await assertUntouched();
});

test("erp db setup refuses one that would change a frozen version, names its file, and leaves all as it was", async () => {
  const { text, says } = unfrozen!;
  await project.commit("try", text);
  const { code, output } = await project.run(["db", "setup"], settings);
  await project.uncommit();
  assert.equal(code, 1, output);
  assert.match(output, /0000\d\d-try\.sql failed, and nothing of it was kept:/);
  for (const pattern of says) assert.match(output, pattern);
  assert.doesNotMatch(output, /\n\s+at /);
  await assertUntouched();
});

test("erp db commit takes the files that are named, in their order, and erp db uncommit brings them back", async () => {
  const count = (await project.list("db/committed")).length;
  await project.write(
    "db/current/10-one.sql",
    `create table if not exists erp.one (id uuid primary key);
      alter table erp.one enable row level security; comment on table erp.one is 'One.';\n`,
  );
  await project.write(
    "db/current/20-two.sql",
    `create table if not exists erp.two (id uuid references erp.one);
      alter table erp.two enable row level security; comment on table erp.two is 'Two.';
      create index if not exists two_id on erp.two (id);\n`,
  );
  const early = await project.run(["db", "commit", "two", "20-two.sql"], settings);
  assert.equal(early.code, 1);
  assert.match(early.output, /10-one\.sql must be committed before/);
  for (const name of ["one", "two"]) {
    const file = name === "one" ? "10-one.sql" : "20-two.sql";
    const { code, output } = await project.run(["db", "commit", name, file], settings);
    assert.equal(code, 0, output);
    assert.ok(await has(`erp.${name}`));
    assert.match(await project.read("db/schema.sql"), new RegExp(`^create table erp\\.${name} \\($`, "m"));
  }
  assert.deepEqual(await project.list("db/current"), ["1-current.sql"]);
  const names = (await project.list("db/committed")).slice(count);
  assert.deepEqual(
    names.map((name) => name.slice(6)),
    ["-one.sql", "-two.sql"],
  );
  // As if everything had been pushed
  const git = (...words: string[]) => execute("git", words, { cwd: project.path });
  await git("init", "--quiet");
  await git("add", "db");
  await git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message=all");
  await git("update-ref", "refs/remotes/origin/main", "HEAD");
  const shared = await project.run(["db", "uncommit"], settings);
  assert.equal(shared.code, 1, shared.output);
  assert.match(shared.output, /Others have 0000\d\d-two\.sql: git has it on a remote branch/);
  const mute = { ...settings, GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" };
  const unknown = await project.run(["db", "uncommit"], mute);
  assert.equal(unknown.code, 1, unknown.output);
  assert.match(unknown.output, /git can't say whether others have .*-two\.sql: fatal: .*dubious ownership/);
  const back = await project.run(["db", "uncommit", "--shared"], settings);
  assert.equal(back.code, 0, back.output);
  // Without the message that it had, which the next commit would keep beside its own
  assert.match(await project.read("db/current/20-two.sql"), /^create table if not exists erp\.two/);
  assert.doesNotMatch(await project.read("db/schema.sql"), /erp\.two/);
  await rm(join(project.path, "db/current/20-two.sql"));
  await owner.query("drop table erp.two; drop table erp.one");
  await owner.query("delete from graphile_migrate.migrations where filename = $1", [
    `${names[0]!.slice(0, 6)}.sql`,
  ]);
  await project.uncommit();
  await assertUntouched();
});
