import assert from "node:assert/strict";
import { test } from "node:test";
import { divide, toRepeat } from "../together.ts";

const texts: Record<string, string> = {
  "test/commands/a.test.ts": 'import { runCommand } from "./process.ts";',
  "test/commands/b.test.ts": 'import { execFile } from "node:child_process";',
  "test/commands/c.test.ts": '// Has a process of its own: it takes long.\nimport "node:child_process";',
  ...Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`test/http/${n}.test.ts`, ""])),
  ...Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`test/live/${n}.test.ts`, ""])),
};
const divided = divide(Object.keys(texts), (file) => texts[file]!);
const [processes, first, second] = [...divided.together.keys()];
const inFirst = divided.together.get(first!)!;
const all = new Set([...divided.single, ...[...divided.together.values()].flat()]);

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

test("nothing is repeated when everything passed", () => {
  assert.deepEqual(toRepeat(new Set(), all, divided), { count: 0, files: [] });
});

test("files that failed are repeated, without those beside them", () => {
  const failed = new Set(["test/commands/c.test.ts", first!, inFirst[2]!]);
  const { count, files } = toRepeat(failed, all.difference(failed), divided);
  assert.deepEqual([count, files], [2, ["test/commands/c.test.ts", inFirst[2]]]);
});

test("after a process has died, what it didn't reach is repeated, as one failure", () => {
  const passed = all.difference(new Set(inFirst.slice(2)));
  for (const failed of [new Set([first!]), new Set<string>()])
    assert.deepEqual(toRepeat(failed, passed, divided), { count: 1, files: inFirst.slice(2) });
});

test("all files of a process are repeated when something failed between them", () => {
  assert.deepEqual(toRepeat(new Set([second!]), all, divided).files, divided.together.get(second!));
});

test("a file of its own process that a killed run didn't reach is repeated, too", () => {
  const unreached = divided.single[0]!;
  const { count, files } = toRepeat(new Set(), all.difference(new Set([unreached])), divided);
  assert.deepEqual([count, files], [1, [unreached]]);
});
