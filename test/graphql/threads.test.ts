import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { openThreads } from "../../src/lib/threads.ts";

const program = new URL("young-generation.ts", import.meta.url);

test("a thread has a young generation of its own, not the one that npm start gives the event loop", async () => {
  for (const end of ["min", "max"]) setFlagsFromString(`--${end}-semi-space-size=32`);
  const threads = openThreads({ program, name: "youngBytes" });
  const bytes = (await threads.run(null)) as number;
  await threads.destroy();
  assert.ok(bytes < 16 * 2 ** 20, `${bytes}`);
});
