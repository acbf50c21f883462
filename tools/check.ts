// `npm run check`: all checks that don't run the service, as many at once as the machine has cores. The longest ones
// come first.
import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

const parts = [
  "eslint .",
  "prettier --check .",
  "tsc",
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

const waiting = parts.values();
const worker = async () => {
  for (const part of waiting) await check(part);
};
await Promise.all(Array.from({ length: availableParallelism() }, worker));
