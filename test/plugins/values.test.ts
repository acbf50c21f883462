import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sampleGid, openSample } from "./support.ts";
import type { Sample } from "./support.ts";

let sample: Sample;
before(async () => void (sample = await openSample()));
after(() => sample?.close());

async function product(number: number, selection: string, settings: Record<string, string> = {}) {
  const source = `{ product(id: "${sampleGid("Product", number)}") { ${selection} } }`;
  const { data, errors } = await sample.run(source, { settings });
  assert.deepEqual(errors, []);
  return data.product;
}

describe("values", () => {
  it("DateTime is UTC to the second, in any time zone of the session", async () => {
    assert.deepEqual(await product(2, "createdAt updatedAt", { timezone: "Asia/Tokyo" }), {
      createdAt: "2026-03-04T05:06:07+00:00",
      updatedAt: "2026-05-01T02:00:00+00:00",
    });
    assert.deepEqual(await product(1, "updatedAt"), { updatedAt: null });
  });

  it("JSON is any value, not text", async () => {
    assert.deepEqual(await product(1, "attributes"), {
      attributes: { colours: ["red", null], size: { width: 1.5 } },
    });
    assert.deepEqual(await product(2, "attributes"), { attributes: [] });
    assert.deepEqual(await product(3, "attributes"), { attributes: "text" });
  });

  it("numeric and double precision are Float, smallint is Int", async () => {
    assert.deepEqual(await product(1, "weight rating position"), { weight: 1.5, rating: 0.125, position: 1 });
    assert.deepEqual(await product(12, "weight rating"), { weight: null, rating: null });
    await sample.sql(
      `update sample.product set weight = 123456789012345678901234567890.5 where id = sample.id(4, 13)`,
    );
    assert.deepEqual(await product(13, "weight"), { weight: 1.2345678901234568e29 });
  });

  it("a list of composites has their fields, ids as global ids", async () => {
    assert.deepEqual(await product(1, "price { currencyId net gross linked }"), {
      price: [
        { currencyId: sampleGid("Currency", 1), net: 10, gross: 11.9, linked: true },
        { currencyId: sampleGid("Currency", 2), net: 12.5, gross: 14.875, linked: false },
      ],
    });
    assert.deepEqual(await product(2, "price { gross }"), {
      price: [{ gross: Number("99999999999999.99") }],
    });
  });

  it("a list of composites that is null stays null, one that is empty stays empty", async () => {
    assert.deepEqual(await product(1, "purchasePrices { net }"), { purchasePrices: [{ net: 5 }] });
    assert.deepEqual(await product(2, "purchasePrices { net }"), { purchasePrices: null });
    assert.deepEqual(await product(3, "price { net }"), { price: [] });
    const { data } = await sample.run(
      `{ products(first: 3) { edges { node { purchasePrices { net linked } price { net } } } } }`,
    );
    assert.deepEqual(
      data.products.edges.map(({ node }: any) => [node.purchasePrices?.length ?? null, node.price.length]),
      [
        [1, 2],
        [null, 1],
        [null, 0],
      ],
    );
  });

  it("a list of texts is null, empty or has texts", async () => {
    assert.deepEqual(await product(1, "words"), { words: ["a", "", '"quoted", \\{}'] });
    assert.deepEqual(await product(2, "words"), { words: [] });
    assert.deepEqual(await product(3, "words"), { words: null });
  });

  it("an enum is its values, though SQL holds text", async () => {
    const { data } = await sample.run(`{ batches(first: 3) { edges { node { state } } } }`);
    assert.deepEqual(
      data.batches.edges.map((edge: any) => edge.node.state),
      ["OnHold", "Closed", "Open"],
    );
  });

  it("a hidden column is not there", async () => {
    const { errors } = await sample.run(`{ products { edges { node { secret } } } }`);
    assert.match(errors[0]!.message, /Cannot query field "secret"/);
  });
});
