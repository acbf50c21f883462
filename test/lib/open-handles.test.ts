import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../commands/process.ts";

const guard = fileURLToPath(new URL("./open-handles.ts", import.meta.url));

/** Runs a separate test file that may leave something open. */
async function run(statement: string, timeoutMs: number): Promise<{ code: unknown; output: string }> {
  const folder = await temporaryFolder();
  const file = join(folder.path, "one.test.ts");
  await writeFile(file, `import { test } from "node:test"; test("one", () => { ${statement} });`);
  const env: NodeJS.ProcessEnv = { ...process.env, TEST_END_TIMEOUT_MS: `${timeoutMs}` };
  delete env.NODE_TEST_CONTEXT;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["--import", guard, "--test", file],
      { env, timeout: 60_000 },
      (error, output) => {
        void folder.remove();
        resolve({ code: error ? error.code : 0, output });
      },
    );
  });
}

test("a test file that leaves something open fails, and says what", async () => {
  const { code, output } = await run("setInterval(() => {}, 1_000);", 50);
  assert.equal(code, 1, output);
  assert.match(output, /After its tests this file has left open: .*Timeout/);
});

test("one that leaves nothing open ends by itself", async () => {
  assert.equal((await run("", 30_000)).code, 0);
});

test("one that ends its process before its tests have ended fails", async () => {
  const { code, output } = await run("process.exit(0);", 30_000);
  assert.equal(code, 1, output);
});
