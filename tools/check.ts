import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { atTheCommandLine } from "../src/commands/command-line.ts";

const parts = [
  // Types, and rules that need them
  "oxlint --type-aware --type-check --ignore-pattern bench/peers/**",
  // Whose packages are only there after a run of `npm run bench`
  "oxlint bench/peers",
  "oxfmt --check .",
  "npm run --silent check:architecture",
  "node tools/find-secrets.ts",
  "npm run --silent check:sql",
];

const root = fileURLToPath(new URL("../", import.meta.url));
const env = {
  ...process.env,
  PATH: `${root}node_modules/.bin${delimiter}${process.env.PATH}`,
  FORCE_COLOR: "1",
};

/** Runs a check, and then shows its output. */
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

const usage = `Checks types, style, formatting, imports, SQL and secrets: all that doesn't need a running service.

Usage: npm run check
`;

await atTheCommandLine({ usage }, async () => {
  const waiting = parts.values();
  const worker = async () => {
    for (const part of waiting) await check(part);
  };
  // As many parts at once as the machine has cores; what takes longest comes first
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
});
