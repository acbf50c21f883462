import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { CommanderError } from "@commander-js/extra-typings";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { erp } from "../../src/commands/erp.ts";
import { temporaryFolder } from "./process.ts";
import type { CommandResult } from "./process.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** What is done in spite of wrong arguments fails here. */
const nobodys = "postgres://nobody@127.0.0.1:1/none";

const leaves = (command: CommandUnknownOpts, path: string[] = []): [string[], CommandUnknownOpts][] =>
  command.commands.length === 0
    ? [[path, command]]
    : command.commands.flatMap((one) => leaves(one, [...path, one.name()]));

/** Runs a program with input. */
function run(
  program: string,
  args: string[],
  { env = {}, input = "", cwd = root } = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, DATABASE_URL: nobodys, ...env } };
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ exitCode: error ? error.code : 0, stdout, stderr }),
    );
    // It may have ended without reading
    child.stdin!.on("error", () => {}).end(input);
  });
}
const launcher = (...args: string[]) => run(process.execPath, ["bin/erp.js", ...args]);

const helpOf = (command: CommandUnknownOpts): string => {
  let text = "";
  command.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp();
  return text;
};

/** Words of a line as a shell has them. */
const wordsOf = (line: string) =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, one, two, three]) => one ?? two ?? three!);

describe("erp", () => {
  it("explains each command, with an example that it understands", () => {
    for (const [path, command] of leaves(erp())) {
      if (path[0] === "compile") continue;
      const help = helpOf(command);
      const [, examples] = help.split("\nExamples:\n");
      assert.ok(command.description() && examples, help);
      for (const line of examples.trim().split("\n")) {
        const [npx, name, ...words] = wordsOf(line.split(" > ")[0]!);
        assert.deepEqual([npx, name, ...words.slice(0, path.length)], ["npx", "erp", ...path]);
        const program = erp();
        let isUnderstood = false;
        for (const [, leaf] of leaves(program)) leaf.action(() => void (isUnderstood = true));
        program.parse(words, { from: "user" });
        assert.ok(isUnderstood, line);
      }
    }
  });

  it("lists the commands by who uses them, one line each", () => {
    const help = helpOf(erp());
    assert.match(help, /\nServe:\n {2}start .*\n/);
    for (const heading of ["Data", "Access", "Database and API", "Operate", "Shell"])
      assert.match(help, new RegExp(`\n${heading}:\n {2}\\w`));
    for (const { length } of help.split("\n")) assert.ok(length <= 125);
    assert.doesNotMatch(help, /compile/);
  });

  it("refuses what it doesn't know, after the help, and names what may be meant", async () => {
    for (const [path] of leaves(erp())) {
      const program = erp();
      let text = "";
      for (const [, leaf] of leaves(program))
        leaf.configureOutput({ writeErr: (part) => void (text += part) });
      await assert.rejects(
        program.parseAsync([...path, "--no-such-option"], { from: "user" }),
        CommanderError,
      );
      assert.match(text, new RegExp(`^Usage: erp ${path.join(" ")}\\b`));
      assert.match(
        text,
        /\n\nerror: (unknown option '--no-such-option'|required option '.*' not specified)\n/,
      );
    }
    const [command, option] = await Promise.all([
      launcher("credentail", "list"),
      launcher("credential", "rotate", "--overlp", "a"),
    ]);
    assert.match(command.stderr, /error: unknown command 'credentail'\n\(Did you mean credential\?\)\n$/);
    assert.match(option.stderr, /error: unknown option '--overlp'\n\(Did you mean --overlap\?\)\n$/);
    assert.deepEqual([command.exitCode, option.exitCode], [2, 2]);
  });

  it("is what the scripts of package.json call", async () => {
    const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const own = Object.values(scripts).filter((script) => script.startsWith("node bin/erp.js "));
    const known = leaves(erp()).map(([path]) => `node bin/erp.js ${path.join(" ")}`);
    assert.deepEqual(
      own.filter((script) => !known.includes(script)),
      [],
    );
    assert.ok(own.length > 0 && Object.keys(scripts).length <= 16);
  });

  it("completes commands, options and fixed arguments in bash", async () => {
    const { stdout: script } = await launcher("completion", "bash");
    const complete = async (...words: string[]) => {
      const text = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _erp; echo "\${COMPREPLY[@]}"`;
      return (await run("bash", ["-c", text])).stdout.trim();
    };
    assert.equal(await complete("erp", "cred"), "credential");
    assert.equal(await complete("erp", "credential", "rotate", "--o"), "--overlap");
    assert.equal(await complete("erp", "plan", "set", "re"), "read_only");
    assert.equal(await complete("erp", "db", "commit", "--json", ""), "--help");
    assert.equal((await launcher("completion", "fish")).exitCode, 2);
  });
});

describe("bin/erp.js", () => {
  it("passes arguments, input and exit codes on, with and without execve", async () => {
    const withoutExecve = ["--import", "data:text/javascript,process.execve=undefined", "bin/erp.js"];
    for (const words of [["bin/erp.js"], withoutExecve]) {
      const help = await run(process.execPath, [...words, "token", "create", "-h"]);
      assert.deepEqual([help.exitCode, help.stderr], [0, ""]);
      assert.match(help.stdout, /^Usage: erp credential create/);
      const refused = await run(process.execPath, [...words, "admin", "create", "a", "--password-stdin"], {
        input: "short",
      });
      assert.equal(refused.exitCode, 1, refused.stderr);
    }
  });

  it("passes signals on, with and without execve", async () => {
    const folder = await temporaryFolder();
    for (const words of [[], ["--import", "data:text/javascript,process.execve=undefined"]]) {
      const child = spawn(process.execPath, [...words, join(root, "bin/erp.js"), "db", "psql"], {
        cwd: folder.path,
        env: { ...process.env, DATABASE_URL: process.env.TEST_ADMIN_URL!, PATH: "" },
        stdio: ["pipe", "pipe", "inherit"],
      });
      child.stdin.write("select 'there';\n");
      await once(child.stdout, "data");
      child.kill("SIGTERM");
      assert.deepEqual(await once(child, "exit"), [null, "SIGTERM"]);
    }
    await folder.remove();
  });

  it("runs where the package is installed, and clients of the API there without the service's modules", async () => {
    const folder = await temporaryFolder();
    const installed = join(folder.path, "node_modules/stock-and-order-graphql");
    await mkdir(installed, { recursive: true });
    for (const part of ["bin", "src", "package.json"])
      await cp(join(root, part), join(installed, part), { recursive: true });
    await symlink(join(root, "node_modules"), join(installed, "node_modules"));
    const log = `data:text/javascript,import { registerHooks } from "node:module";
      registerHooks({ resolve(name, context, next) {
        const found = next(name, context);
        console.error("loads " + found.url);
        return found;
      } });`;
    for (const words of [
      ["import", "products", "products.csv"],
      ["export", "{ a }", "a.csv"],
    ]) {
      const { exitCode, stdout, stderr } = await run(
        process.execPath,
        [join(installed, "bin/erp.js"), ...words],
        {
          cwd: folder.path,
          env: { NODE_OPTIONS: `--import=${encodeURI(log)}`, CLIENT_ID: "" },
        },
      );
      assert.deepEqual([exitCode, stdout], [1, ""], stderr);
      assert.match(stderr, words[0] === "import" ? /There is no file products\.csv/ : /Set CLIENT_ID/);
      assert.match(stderr, /loads file:.*\/src\/commands\/(import|export)\.ts/);
      assert.doesNotMatch(
        stderr,
        /loads file:.*\/(src\/(database|http|process\/settings)|node_modules\/(pg|postgraphile|express))\//,
      );
      assert.doesNotMatch(stderr, /Warning/);
    }
    await folder.remove();
  });
});
