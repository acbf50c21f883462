import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { WorkThreads } from "../../src/lib/threads.ts";

const program = new URL("young-generation.ts", import.meta.url);

test("a thread has a young generation of its own, not the one that npm start gives the event loop", async () => {
  for (const end of ["min", "max"]) setFlagsFromString(`--${end}-semi-space-size=32`);
  const threads = new WorkThreads({ program, maxWaiting: 1, maxWaitMs: 60_000, timeoutMs: 60_000 });
  const bytes = await threads.run<number>("test", "youngBytes", null);
  await threads.close();
  assert.ok(bytes < 16 * 2 ** 20, `${bytes}`);
});
