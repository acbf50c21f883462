import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { difference, isSameAnswer } from "../../bench/measure/equality.ts";

const uuid = "018fd2d0-081f-73dc-8edd-7c7360cdaaf2";
const other = "018fd2d0-0804-7444-81ae-407535f90524";

describe("answers say the same", () => {
  for (const [what, one, two] of [
    ["with ids as they are in the database", { id: `gid://service/Product/${uuid}` }, { id: uuid }],
    ["with decimal numbers as texts", { unitPrice: 12.5 }, { unitPrice: "12.50" }],
    [
      "with times in other spellings",
      { createdAt: "2026-06-02T07:30:00+00:00" },
      { createdAt: "2026-06-02T09:30:00.000+02:00" },
    ],
    ["with fields in another order", { a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }],
  ] as const) {
    it(what, () => {
      assert.equal(isSameAnswer(one, two), true);
      assert.equal(difference(one, two), null);
    });
  }
});

describe("answers differ", () => {
  for (const [what, one, two, where] of [
    ["with another id", { id: `gid://service/Product/${uuid}` }, { id: other }, /answer\.id is/],
    ["with other numbers", { unitPrice: 12.5 }, { unitPrice: "12.51" }, /unitPrice is 12.5 instead of 12.51/],
    ["in a text that looks like a number", { gtin: "0402" }, { gtin: "402" }, /gtin is "0402"/],
    [
      "when rows are in another order",
      { edges: [{ n: 1 }, { n: 2 }] },
      { edges: [{ n: 2 }, { n: 1 }] },
      /edges\.0\.n/,
    ],
    ["when a row is missing", { edges: [1, 2] }, { edges: [1] }, /edges\.1 is 2 instead of missing/],
    ["when a field is missing", { a: 1 }, { a: 1, b: null }, /answer\.b is missing instead of null/],
    ["when null is there instead of an object", { node: null }, { node: {} }, /node is null/],
  ] as const) {
    it(what, () => {
      assert.equal(isSameAnswer(one, two), false);
      assert.match(difference(one, two)!, where);
    });
  }
});
