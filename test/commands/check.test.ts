import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A mistake for each rule that isn't one of usual style. */
const mistakes: Record<string, string> = {
  "typescript(TS2322)": `export const text: string = 1;`,
  "typescript(TS2532)": `export const length = ["a"][1].length;`,
  "typescript(no-explicit-any)": `export const limits: any = { cost: 1 };`,
  "typescript(no-unsafe-assignment)": `export const { cost } = JSON.parse("{}");`,
  "typescript(no-unsafe-argument)": `export const first = Number.parseInt(JSON.parse("[]"));`,
  "typescript(no-unsafe-call)": `JSON.parse("null")();`,
  "typescript(no-unsafe-member-access)": `if (JSON.parse("[{}]").one === 2) throw new Error("two");`,
  "typescript(no-unsafe-return)": `export const read = () => JSON.parse("{}");`,
  "typescript(no-floating-promises)": `Promise.reject(new Error("nobody hears of it"));`,
  "typescript(no-misused-promises)": `[1].forEach(async (n) => { await Promise.resolve(n); });`,
  "typescript(await-thenable)": `await 1;`,
  "typescript(only-throw-error)": `export const fail = () => { throw "a text"; };`,
  "eslint(no-unused-vars)": `import { readFile } from "node:fs";`,
  "eslint(max-lines-per-function)": `export function long() {${"\n".repeat(60)}}`,
  "eslint(max-lines)": "\n".repeat(250),
};

/** What tests may do: the service's answers come without types. */
const allowedInTests = /unsafe|explicit-any|max-lines/;

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "check-"));
  for (const name of [".oxlintrc.json", "tsconfig.json", "package.json"])
    await copyFile(join(root, name), join(folder, name));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  for (const room of ["src", "plugins", "test"]) {
    await mkdir(join(folder, room));
    for (const [index, mistake] of Object.values(mistakes).entries())
      await writeFile(join(folder, room, `${index}.ts`), `${mistake}\nexport {};\n`);
  }
});
after(() => rm(folder, { recursive: true, force: true }));

/** What the check finds in the files of a room, by their names. */
function found(room: string): Promise<Record<string, string[]>> {
  const program = join(root, "node_modules/oxlint/bin/oxlint");
  const parameters = ["--type-aware", "--type-check", "--format=json", room];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...parameters], { cwd: folder }, (_error, stdout, stderr) => {
      try {
        const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
        const byFile = Object.groupBy(diagnostics, ({ filename }) => filename);
        const codes = Object.entries(byFile).map(([file, all]) => [file, all!.map(({ code }) => code)]);
        resolve(Object.fromEntries(codes));
      } catch (error) {
        reject(new Error(`${stdout}${stderr}`, { cause: error }));
      }
    });
  });
}

for (const room of ["src", "plugins", "test"])
  test(`each rule holds in ${room}`, async () => {
    const all = await found(room);
    for (const [index, rule] of Object.keys(mistakes).entries()) {
      const isAllowed = room === "test" && allowedInTests.test(rule);
      const codes = all[`${room}/${index}.ts`] ?? [];
      assert.equal(codes.includes(rule), !isAllowed, `${rule}: ${codes.join(", ")}`);
    }
  });
