import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { uuidKey } from "../../src/graphql/key-forms.ts";
import { encodeGlobalId, requireGlobalId, requireKey } from "../../src/graphql/global-id.ts";

const uuid = "01980000-0000-7000-8004-00000000000a";
const id = `gid://service/Product/${uuid}`;

describe("global ids", () => {
  it("have the form of the specification", () => {
    assert.equal(encodeGlobalId("Product", uuid), id);
  });

  it("give type and uuid", () => {
    assert.deepEqual(
      requireGlobalId(id, () => uuidKey),
      { typeName: "Product", values: [uuid] },
    );
    assert.deepEqual(requireKey("Product", uuidKey, id), [uuid]);
  });

  const garbage: unknown[] = [
    "",
    uuid,
    "Product",
    "gid://service/Product/",
    "gid://service/Product/1",
    `${id}0`,
    ` ${id}`,
  ];
  garbage.push(
    `${id}\n`,
    id.toUpperCase(),
    id.replace("a", "A"),
    id.replace("service", "other"),
    id.replace("-", ""),
  );
  garbage.push(
    id.replace("Product", "product"),
    id.replace("Product", ""),
    id.replace("0198", "zzzz"),
    `${id}/x`,
  );
  garbage.push(`gid://service/Product/${"'".repeat(36)}`, null, undefined, 5, ["x"], "x".repeat(1e6));
  for (const text of garbage) {
    it(`refuse ${JSON.stringify(text)?.slice(0, 60)}`, () => {
      assert.throws(() => requireGlobalId(text, () => undefined), { extensions: { code: "BAD_USER_INPUT" } });
    });
  }

  it("refuse another type and name both", () => {
    assert.throws(() => requireKey("Batch", uuidKey, id), {
      message: "Expected the id of a Batch, but got one of a Product.",
      extensions: { code: "BAD_USER_INPUT" },
    });
    assert.throws(() => requireKey("Order", uuidKey, id), { message: /^Expected the id of an Order, / });
  });

  it("don't send long garbage back", () => {
    assert.throws(
      () => requireGlobalId("x".repeat(1e6), () => undefined),
      (error: Error) => error.message.length < 200,
    );
  });
});
