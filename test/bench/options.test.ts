import assert from "node:assert/strict";
import { it } from "node:test";
import { readOptions } from "../../bench/options.ts";
import { UserError } from "../../src/errors/user-error.ts";

it("measures everything unless told otherwise", () => {
  const { mode, reads, writes, connections, with: others } = readOptions([]);
  assert.deepEqual(
    [mode, reads.join(""), writes, connections, others],
    ["side by side", "ABCDEFGHIJK", true, [1, 32], ["postgraphile-5"]],
  );
});

it("measures what it is told", () => {
  const options = readOptions([
    "--only",
    "D,B",
    "--connections",
    "4",
    "--with",
    "vendure,medusa",
    "--rounds",
    "2",
  ]);
  assert.deepEqual(options.reads, ["B", "D"]);
  assert.equal(options.writes, false);
  assert.deepEqual(options.connections, [4]);
  assert.deepEqual(options.with, ["vendure", "medusa"]);
  assert.equal(options.rounds, 2);
});

it("plays attacks for as long as it is told", () => {
  const { mode, seconds, attacks } = readOptions(["--fairness"]);
  assert.deepEqual([mode, seconds, attacks], ["fairness", 20, []]);
  const some = readOptions(["--fairness", "--seconds", "30", "--attacks", "filters,slow bodies"]);
  assert.deepEqual([some.seconds, some.attacks], [30, ["filters", "slow bodies"]]);
});

it("measures as many merchants as it is told", () => {
  const { mode, merchants, keep } = readOptions(["--merchants", "50", "--keep"]);
  assert.deepEqual([mode, merchants, keep], ["merchants", 50, true]);
  assert.equal(readOptions(["--merchants"]).merchants, 1_000);
});

it("refuses what it does not understand", () => {
  const wrong = [
    ["--fast"],
    ["--rounds", "none"],
    ["--scale", "0"],
    ["50"],
    ["--merchants", "many"],
    ["--only", "A,W1"],
  ];
  for (const each of wrong) assert.throws(() => readOptions(each), UserError);
});
