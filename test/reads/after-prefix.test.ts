import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findPrefixEnd } from "../../src/reads/filter-operators.ts";

describe("the end of a prefix's range", () => {
  const last = String.fromCodePoint(0x10ffff);
  for (const [prefix, end] of [
    ["a", "b"],
    ["SW-1", "SW-2"],
    ["ü", "ý"],
    ["\ud7ff", "\ue000"],
    ["a" + last, "b"],
    [last, null],
    ["", null],
    ["😀", "😁"],
  ] as const) {
    it(`${JSON.stringify(prefix)} ends at ${JSON.stringify(end)}`, () =>
      assert.equal(findPrefixEnd(prefix), end));
  }
});
