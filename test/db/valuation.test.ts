import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { useValues } from "./valued.ts";

const both = ["moving_average", "fifo"] as const;
const all = [...both, "period_average"] as const;

describe("the value of the stock", () => {
  const { rows, undone, move, receipt, receive, open, land, writeDown, close, state, value, costs, outside, faults } =
    useValues();
  const test = (name: string, work: () => Promise<void>) => it(name, () => undone(work));

  test("is nothing without movements", async () => {
    for (const method of all) assert.equal(await value(method), null);
  });

  test("is the average of what came, or what came last", async () => {
    await receive("A", { lines: [[10, 2]] });
    await move("hall", "order 1", 4);
    await receive("B", { lines: [[6, 4]] });
    await move("hall", "order 2", 8);
    assert.equal(await value("moving_average"), "4 × 12"); // 6 × 2 + 6 × 4 = 36, of which 4 of 12
    assert.equal(await value("fifo"), "4 × 16");
    assert.equal(await value("period_average"), "4 × 11"); // 44 for 16 units
    assert.deepEqual(await costs("moving_average"), ["20", "-8", "24", "-24"]);
    assert.deepEqual(await costs("fifo"), ["20", "-8", "24", "-20"]);
    assert.deepEqual(await costs("period_average"), ["20", "-11", "24", "-22"]);
    assert.equal(await outside("order 2", "fifo"), "8 × 20");
  });
});
