import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../commands/process.ts";

// On a copy of the project, for a release writes into it
const root = fileURLToPath(new URL("../../", import.meta.url));
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
before(async () => {
  folder = await temporaryFolder();
  for (const part of ["db", "plugins", "schema", "src", ".gmrc", "package.json"])
    await cp(join(root, part), join(folder.path, part), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder.path, "node_modules"));
});
after(() => folder.remove());

const release = (...words: string[]) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const env = { ...process.env, DATA_DIRECTORY: join(folder.path, ".data"), DATABASE_URL: "" };
    const command = [join(folder.path, "src/commands/release.ts"), ...words];
    execFile(process.execPath, command, { cwd: folder.path, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
const read = (path: string) => readFile(join(folder.path, path), "utf8");
const migrations = async () => (await readdir(join(folder.path, "db/committed"))).length;

for (const [words, message] of [
  [["2027-02"], /no name of a version/],
  [["../2027-01"], /no name of a version/],
  [["2027-01", "--date", "2027-02-01"], /named for the month/],
  [["2027-01", "--date", "2027-01-99"], /no date/],
  [["2026-06-unstable"], /There is a version/],
] as const) {
  test(`release ${words.join(" ")} is refused, and leaves all as it was`, async () => {
    const count = await migrations();
    const { code, output } = await release(...words);
    assert.equal(code, 1);
    assert.match(output, message);
    assert.equal(await migrations(), count);
  });
}

test("releasing freezes the head: a migration, its schema, and a line in the list of versions", async () => {
  const count = await migrations();
  const { code, output } = await release("2027-01", "--date", "2027-01-12");
  assert.equal(code, 0, output);
  assert.equal(await migrations(), count + 1);
  assert.equal(await read("schema/2027-01.graphql"), await read("schema/unstable.graphql"));
  assert.equal(await read("schema/released/2027-01.graphql"), await read("schema/unstable.graphql"));
  const list = JSON.parse(await read("src/versions/versions.json"));
  assert.deepEqual(list.slice(-2), [{ slug: "2027-01", releasedOn: "2027-01-12" }, { slug: "unstable" }]);
  assert.equal((await release("2027-01", "--date", "2027-01-12")).code, 1);
});

test("and while a migration is being written, nothing is released", async () => {
  await cp(join(root, "db/lint/search-path.sql"), join(folder.path, "db/current/0001-something.sql"));
  const { code, output } = await release("2027-04", "--date", "2027-04-01");
  assert.equal(code, 1);
  assert.match(output, /migration in db\/current/);
});
