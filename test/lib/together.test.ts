import assert from "node:assert/strict";
import { test } from "node:test";
import { divide } from "../together.ts";

const texts: Record<string, string> = {
  "test/commands/a.test.ts": 'import { runCommand } from "./process.ts";',
  "test/commands/b.test.ts": 'import { execFile } from "node:child_process";',
  "test/commands/c.test.ts": '// Has a process of its own: it takes long.\nimport "node:child_process";',
  ...Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`test/http/${n}.test.ts`, ""])),
  ...Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`test/live/${n}.test.ts`, ""])),
};
const divided = divide(Object.keys(texts), (file) => texts[file]!);
const [processes, first, second] = [...divided.together.keys()];

test("files share processes, unless they say why they don't", () => {
  assert.deepEqual(divided.single, ["test/commands/c.test.ts"]);
  assert.deepEqual(
    [...divided.together.values()].map(({ length }) => length),
    [2, 16, 16],
  );
});

test("files that start processes share others, which are run first", () => {
  assert.deepEqual(divided.together.get(processes!), ["test/commands/a.test.ts", "test/commands/b.test.ts"]);
  assert.ok([first!, second!].every((path) => path > processes!));
});

test("processes have about as much to do", () => {
  const lengths = [900, 300, 300, 200, 100, ...Array.from({ length: 40 }, () => 1)];
  const files = new Map<string, string>(
    lengths.map((length, index) => [`test/http/${index}.test.ts`, "x".repeat(length)]),
  );
  const { together } = divide([...files.keys()], (file) => files.get(file)!);
  const sums = [...together.values()].map((some) =>
    some.reduce((sum, file) => sum + files.get(file)!.length, 0),
  );
  assert.deepEqual(sums.length, 2);
  assert.ok(Math.abs(sums[0]! - sums[1]!) < 50, String(sums));
});

test("a file that has none to share with has a process of its own", () => {
  const { single, together } = divide(["test/live/0.test.ts"], () => "");
  assert.deepEqual([single, together.size], [["test/live/0.test.ts"], 0]);
});
