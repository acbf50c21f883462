/**
 * `npm test`: the check, all test files, and some of the attacks of the fairness. A part that fails is the last one. The
 * check leaves a processor free for half of its time, so some tests run beside it, and are shown after it.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";

/** They use processor time rather than wait, and about as much as the check leaves free. */
const besideCheck = "test/{check,pdf}/**/*.test.ts";

const [checked, beside] = await Promise.all([run("tools/check.ts"), runLater("test/run.ts", besideCheck)]);
// What failed comes last
if (checked === 0 || beside.code !== 0) console.log(beside.output);
if (checked !== 0) console.log("✖ The check has failed, see above.");
process.exitCode =
  checked ||
  beside.code ||
  (await run("test/run.ts", "test/**/*.test.ts", `!${besideCheck}`)) ||
  (await run("test/run.ts", "test/fairness/some.ts"));

/** @returns the code that the program ends with */
async function run(...program: string[]): Promise<number> {
  const [code] = (await once(spawn(process.execPath, program, { stdio: "inherit" }), "close")) as [
    number | null,
  ];
  return code ?? 1;
}

/** The same, with its output, and after all others that want the processor. */
function runLater(...program: string[]): Promise<{ code: number; output: string }> {
  const env = process.stdout.isTTY ? { ...process.env, FORCE_COLOR: "1" } : process.env;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, program, { env, maxBuffer: Infinity }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, output: `${stdout}${stderr}` }),
    );
    setPriority(child.pid!, constants.priority.PRIORITY_BELOW_NORMAL);
  });
}
