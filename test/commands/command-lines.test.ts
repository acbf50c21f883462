import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { CommandResult } from "./process.ts";

const root = new URL("../../", import.meta.url);
const { scripts } = JSON.parse(await readFile(new URL("package.json", root), "utf8")) as {
  scripts: Record<string, string>;
};
// The others belong to other programs: oxfmt, tsc, node's tests
const own = Object.entries(scripts).filter(([, script]) => /^node .*\b(src|tools|bench)\//.test(script));
const programs = Map.groupBy(own, ([, script]) => /\S+\.ts\b(?!.*\.ts)/.exec(script)![0]);

/** Runs a script of package.json, with a database that nobody has: what it does in spite of its arguments, fails. */
function run(script: string, ...args: string[]): Promise<CommandResult> {
  const env = { ...process.env, DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...script.split(" ").slice(1), ...args],
      { cwd: fileURLToPath(root), env },
      (error, stdout, stderr) => resolve({ exitCode: error ? error.code : 0, stdout, stderr }),
    );
  });
}

describe("the command lines of package.json", { concurrency: 2 }, () => {
  it("are of commands of the project", () => assert.ok(own.length >= 18, own.join("\n")));

  // One function reads the arguments of all, and prints the usage that each is shown to have below
  it("explain themselves, at -h as well", async () => {
    const helped = [
      ["token", "--help"],
      ["db:reset", "--help"],
      ["bench", "-h"],
    ].map(async ([name, option]) => ({ name, ...(await run(scripts[name!]!, option!)) }));
    for (const { name, exitCode, stdout, stderr } of await Promise.all(helped)) {
      assert.deepEqual([exitCode, stderr], [0, ""], name);
      assert.match(stdout, new RegExp(`\\b${name}\\b`), name);
    }
  });

  it("refuse options that npm has taken, and say where they belong", async () => {
    const token = ["run", "--silent", "token", "create", "--name", "Shop", "--read", "products"];
    const env = { ...process.env, DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) =>
      execFile("npm", token, { cwd: fileURLToPath(root), env }, (error, _, stderr) =>
        resolve({ code: error?.code, stderr }),
      ),
    );
    assert.equal(code, 2, stderr);
    assert.match(stderr, /npm took --(name|read) as an option of its own.*npm run token -- …/);
  });

  // What several scripts run, such as those of db:, reads its arguments in one place
  for (const scriptsOfProgram of programs.values()) {
    const [first, script] = scriptsOfProgram[0]!;
    const usages = scriptsOfProgram.map(([name]) => {
      const isListed = name.startsWith("db:") && scriptsOfProgram.length > 1;
      return new RegExp(isListed ? `^  ${name}\\b` : `^.*npm (run )?${name}\\b`, "m");
    });
    const names = scriptsOfProgram.map(([name]) => name).join(", ");

    it(`npm run ${names}: refuses an option that it doesn't know`, async () => {
      const { exitCode, stdout, stderr } = await run(script, "--no-such-option");
      assert.deepEqual([exitCode, stdout], [2, ""], stderr);
      assert.match(stderr, /Unknown option '--no-such-option'/);
      for (const usage of usages) assert.match(stderr, usage, first);
      assert.doesNotMatch(stderr, /\n\s+at /);
    });
  }
});
