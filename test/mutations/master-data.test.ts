import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { missingId } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop, refusals } from "../lib/shop.ts";

const frozen = "2026-06-unstable";

let shop: Shop;
before(async () => {
  shop = await openShop({ versions });
});
after(() => shop.close());

const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const results = "results { index outcome id userErrors { code field } }";
const faults = ({ results }: any) =>
  results.map(({ userErrors }: any) =>
    userErrors.map(({ code, field }: any) => `${code} ${field.join(".")}`),
  );

/** Upserts rows, and returns the payload with these fields of the objects. */
const upsert = (list: string, rows: object[], fields = "id", more = {}) =>
  shop.mutate(`${list}Upsert`, { [list]: rows, ...more }, { select: `${results} ${list} { ${fields} }` });

const names = { "en-GB": "Invoice", "de-DE": "Rechnung", fr: "Facture" };

/** For each kind of master data: a first row, what is shown of it, a change, and its key. */
const kinds: Record<string, { row: Record<string, unknown>; change: Record<string, unknown>; key: string }> =
  {
    tags: { row: { name: "fragile" }, change: { name: "very fragile" }, key: "name" },
    customerGroups: {
      row: { technicalName: "trade", nameByLocale: names, displayGross: false },
      change: { displayGross: true },
      key: "technicalName",
    },
    paymentMethods: {
      row: {
        ...{
          technicalName: "test_invoice",
          nameByLocale: names,
          descriptionByLocale: { "en-GB": "In 14 days" },
        },
        ...{ active: false, position: 3, afterOrderEnabled: true, meansCode: "58" },
      },
      change: {
        nameByLocale: { "en-GB": "Bill" },
        descriptionByLocale: null,
        position: null,
        meansCode: null,
      },
      key: "technicalName",
    },
    shippingMethods: {
      row: { technicalName: "parcel", nameByLocale: names, active: false },
      change: { active: true, nameByLocale: { "en-GB": "Parcel", "de-DE": "Paket" } },
      key: "technicalName",
    },
    locations: {
      row: { storefrontId: "front-7", name: "Drop shipper", active: false },
      change: { name: "Wholesaler", active: true },
      key: "storefrontId",
    },
  };

for (const [list, { row, change, key }] of Object.entries(kinds))
  describe(`${list}Upsert`, () => {
    const fields = ["id", ...Object.keys(row)].join(" ");

    it("creates, changes, and leaves alone what is the same; all is read as it was written", async () => {
      const made = await upsert(list, [row], fields);
      assert.deepEqual(made.userErrors, []);
      assert.equal(outcomes(made), "CREATED");
      const { id, ...shown } = made[list][0];
      assert.deepEqual(shown, row);
      assert.equal(outcomes(await upsert(list, [row])), "UNCHANGED");
      const changed = await upsert(list, [{ id, ...change }], fields);
      assert.equal(outcomes(changed), "UPDATED");
      assert.deepEqual(changed[list], [{ ...row, ...change, id }]);
      assert.equal(outcomes(await upsert(list, [{ ...row, ...change }])), "UNCHANGED");
    });

    it("does the good rows of a partial call, and none of another", async () => {
      const rows = ["second", " ", "second"].map((name) => ({ ...row, [key]: name }));
      const refused = await upsert(list, rows);
      assert.deepEqual(refusals(refused), [
        ["INVALID", `${list}.1.${key}`],
        ["NOT_UNIQUE", `${list}.2.${key}`],
      ]);
      const partly = await upsert(list, rows, "id", { partial: true });
      assert.equal(outcomes(partly), "CREATED REFUSED REFUSED");
      assert.deepEqual(faults(partly), [[], [`INVALID ${list}.1.${key}`], [`NOT_UNIQUE ${list}.2.${key}`]]);
      assert.equal(partly[list].length, 1);
    });

    it("needs a key, a known id, and a right", async () => {
      const unnamed = { ...row, [key]: undefined };
      assert.deepEqual(refusals(await upsert(list, [unnamed])), [["REQUIRED", `${list}.0`]]);
      const type = list.charAt(0).toUpperCase() + list.slice(1, -1);
      assert.deepEqual(refusals(await upsert(list, [{ ...row, id: missingId(type) }])), [
        ["NOT_FOUND", `${list}.0.id`],
      ]);
      const token = await shop.token({ read: "all" });
      const { codes } = await shop.tryMutate(`${list}Upsert`, { [list]: [row] }, { token });
      assert.deepEqual(codes, ["FORBIDDEN"]);
    });
  });

describe("texts in several languages", () => {
  const nameOf = async (id: string, locale: string) => {
    const token = await shop.token({ read: ["shipping_methods"] });
    const query = `{ shippingMethod(id: "${id}") { name nameByLocale } }`;
    const { body } = await shop.ask(token, { query }, { headers: { "accept-language": locale } });
    return body.data.shippingMethod;
  };

  it("are shown in the language of the request, and all of them in a map", async () => {
    const { shippingMethods } = await upsert("shippingMethods", [
      { technicalName: "air", nameByLocale: names },
    ]);
    const { id } = shippingMethods[0];
    assert.deepEqual(await nameOf(id, "de-DE"), { name: "Rechnung", nameByLocale: names });
    assert.deepEqual(await nameOf(id, "en-GB"), { name: "Invoice", nameByLocale: names });
  });

  it("are replaced as a whole", async () => {
    const row = { technicalName: "air", nameByLocale: { "en-GB": "Air", "de-AT": "Luft" } };
    const { shippingMethods } = await upsert("shippingMethods", [row], "nameByLocale");
    assert.deepEqual(shippingMethods, [{ nameByLocale: row.nameByLocale }]);
  });

  const mistakes: [what: string, nameByLocale: unknown, code: string][] = [
    ["a text", "Air", "INVALID"],
    ["a list", ["Air"], "INVALID"],
    ["no text in en-GB", { "de-DE": "Luft" }, "REQUIRED"],
    ["nothing", null, "REQUIRED"],
    ["no object at all", undefined, "REQUIRED"],
    ["another key than a locale", { "en-GB": "Air", deutsch: "Luft" }, "INVALID"],
    ["a blank text", { "en-GB": "Air", "de-DE": " " }, "INVALID"],
    ["a number", { "en-GB": 5 }, "INVALID"],
    ["null for a text", { "en-GB": "Air", "de-DE": null }, "INVALID"],
    ["a long text", { "en-GB": "x".repeat(1001) }, "OUT_OF_RANGE"],
    [
      "too many languages",
      Object.fromEntries(
        ["en-GB", ...Array.from({ length: 100 }, (_, n) => `de-${100 + n}`)].map((l) => [l, l]),
      ),
      "TOO_MANY_LINES",
    ],
  ];
  for (const [what, nameByLocale, code] of mistakes)
    it(`refuse ${what}`, async () => {
      const refused = await upsert("shippingMethods", [{ technicalName: "sea", nameByLocale }]);
      assert.deepEqual(refusals(refused), [[code, `shippingMethods.0.nameByLocale`]]);
    });
});

describe("shippingMethods", () => {
  it("are a list with filters, which needs a scope", async () => {
    await upsert("shippingMethods", [{ technicalName: "pickup", nameByLocale: names, active: false }]);
    const query = `{ shippingMethods(filter: { technicalName: { equals: "pickup" } }) { edges { node { technicalName active name } } } }`;
    const { body } = await shop.ask(await shop.token({ read: ["shipping_methods"] }), { query });
    assert.deepEqual(body.data.shippingMethods.edges, [
      { node: { technicalName: "pickup", active: false, name: "Invoice" } },
    ]);
    const { codes } = await shop.ask(await shop.token({ read: ["orders"] }), { query });
    assert.deepEqual(codes, ["FORBIDDEN"]);
  });
});

describe("ids of shipping methods", () => {
  it("lead to an object in unstable, and to null in the frozen version, which has no such type", async () => {
    const { shippingMethods } = await upsert("shippingMethods", [
      { technicalName: "freight", nameByLocale: names },
    ]);
    const query = `{ node(id: "${shippingMethods[0].id}") { __typename } }`;
    const token = await shop.token();
    assert.deepEqual((await shop.ask(token, { query })).body.data.node, { __typename: "ShippingMethod" });
    assert.deepEqual((await shop.ask(token, { query }, { version: frozen })).body.data, { node: null });
  });
});

describe("paymentMethodsUpsert", () => {
  it("refuses what is no code of a means of payment", async () => {
    const refused = await upsert("paymentMethods", [{ technicalName: "odd", meansCode: "cash" }]);
    assert.deepEqual(refusals(refused), [["INVALID", "paymentMethods.0.meansCode"]]);
  });
});

describe("tagsDelete", () => {
  const remove = (ids: string[]) => shop.mutate("tagsDelete", { ids }, { select: "deletedTagIds" });

  it("takes tags from everything that has them", async () => {
    await shop.mutate("productsUpsert", { products: [{ productNumber: "hammer", tags: ["old", "kept"] }] });
    const { tags } = await upsert("tags", [{ name: "old" }, { name: "kept" }]);
    const { deletedTagIds, userErrors } = await remove([tags[0].id]);
    assert.deepEqual([deletedTagIds, userErrors], [[tags[0].id], []]);
    const query = `{ product(id: "${shop.id.hammer}") { tags { edges { node { name } } } } }`;
    const { body } = await shop.ask(await shop.token({ read: "all" }), { query });
    assert.deepEqual(body.data.product.tags.edges, [{ node: { name: "kept" } }]);
  });

  it("refuses unknown tags, and then deletes none", async () => {
    const { tags } = await upsert("tags", [{ name: "stays" }]);
    const refused = await remove([tags[0].id, missingId("Tag")]);
    assert.deepEqual(refusals(refused), [["NOT_FOUND", "ids.1"]]);
    assert.deepEqual(refusals(await remove([])), [["REQUIRED", "ids"]]);
    assert.equal(outcomes(await upsert("tags", [{ name: "stays" }])), "UNCHANGED");
  });
});
