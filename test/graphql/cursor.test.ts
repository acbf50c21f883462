import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { uuidKey } from "../../src/graphql/key-forms.ts";
import { decodeCursor, encodeCursor } from "../../src/graphql/cursor.ts";

const id = "01980000-0000-7000-8004-000000000001";
const cursor = encodeCursor("Tag.products", id);
const list = { list: "Tag.products", key: uuidKey };
const refused = { extensions: { code: "CURSOR_INVALID" } };

describe("cursors", () => {
  it("lead back to the entry", () => {
    assert.equal(decodeCursor(list, cursor)[0].key, id);
  });

  it("are safe in addresses", () => {
    assert.match(cursor, /^[A-Za-z0-9_-]+$/);
  });

  it("are refused in another list, with both named", () => {
    assert.throws(() => decodeCursor({ ...list, list: "Query.products" }, cursor), {
      message: "The cursor belongs to the list Tag.products, not to Query.products.",
      ...refused,
    });
  });

  it("are refused when any character is changed, lost or added", () => {
    for (let index = 0; index < cursor.length; index++) {
      const changed = cursor[index] === "A" ? "B" : "A";
      const before = cursor.slice(0, index);
      const after = cursor.slice(index + 1);
      for (const damaged of [before + changed + after, before + after, `${before}A${cursor.slice(index)}`]) {
        if (damaged !== cursor) assert.throws(() => decodeCursor(list, damaged), refused, damaged);
      }
    }
  });

  it("are refused when they are something else altogether", () => {
    const forged = (text: string) => Buffer.from(text).toString("base64url");
    const others = [
      "",
      " ",
      "null",
      "\0",
      `${cursor} `,
      `${cursor}=`,
      forged(`Tag.products:${id}`),
      "💥",
      "x".repeat(1e5),
    ];
    others.push(forged(`Tag.products:${"'; drop table x; --".padEnd(36)}:00000000`));
    for (const other of others) assert.throws(() => decodeCursor(list, other), refused, other);
  });
});
