import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { Program, run } from "../src/commands/program.ts";

const parts = [
  // Types, and lint rules that need types
  "oxlint --type-aware --type-check --ignore-pattern bench/peers/**",
  // Without types: the peers' packages are only installed by `npm run bench`
  "oxlint bench/peers",
  "oxfmt --check .",
  "depcruise --config tools/architecture/rules.ts src plugins bench test examples tools",
  "node tools/find-secrets.ts",
  "node tools/check-sql.ts",
  "node tools/check-prose.ts",
];

const root = fileURLToPath(new URL("../", import.meta.url));
const env = {
  ...process.env,
  PATH: `${root}node_modules/.bin${delimiter}${process.env.PATH}`,
  FORCE_COLOR: "1",
};

/** Runs a check and then prints its output. */
function check(part: string): Promise<void> {
  const begin = performance.now();
  const [program, ...parameters] = part.split(" ");
  return new Promise((resolve) => {
    const options = { cwd: root, env, maxBuffer: Infinity, shell: process.platform === "win32" };
    execFile(program!, parameters, options, (error, stdout, stderr) => {
      const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
      console.log(`${error ? "✖" : "✔"} ${part} (${seconds} s)`);
      if (error) process.exitCode = 1;
      if (error) console.log(`${stdout}${stderr}`.trimEnd() || error.message);
      resolve();
    });
  });
}

/** Runs all checks, as many at once as the machine has cores. The slowest come first. */
async function checkAll(): Promise<void> {
  const waiting = parts.values();
  const worker = async () => {
    for (const part of waiting) await check(part);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

const program = new Program("check").description(
  "Checks types, style, formatting, imports, SQL, words and secrets: all that doesn't need a running service.",
);
await run(program.action(checkAll));
