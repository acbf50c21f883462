import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { missingId } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop, refusals } from "../lib/shop.ts";

let shop: Shop;
let products: (input: object, options?: object) => Promise<any>;
before(async () => {
  shop = await openShop();
  products = (input, options = {}) => shop.mutate("productsUpsert", input, { select, ...options });
});
after(() => shop.close());

const price = "{ currencyId net gross linked }";
const select = `results { index outcome id userErrors { code message field } }
  products { id productNumber name gtin reorderPoint storefrontVariants parent { productNumber }
    price ${price} purchasePrices ${price} tags { edges { node { name } } } }`;

const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const tagsOf = ({ tags }: any) => tags.edges.map(({ node }: any) => node.name).sort();
const eur = (net: number) => ({ currencyId: shop.id.EUR, net, gross: net * 1.25, linked: true });
const rowOf = async (number: string) =>
  (await shop.owner.query("select to_jsonb(p) as row from erp.product p where product_number = $1", [number]))
    .rows[0]?.row;

/** The events that some work causes. */
async function eventsOf(work: () => Promise<unknown>): Promise<[topic: string, fields: string[] | null][]> {
  await sequence(shop.owner);
  const end = await endOfLog(shop.owner);
  await work();
  await sequence(shop.owner);
  return (await logAfter(shop.owner, end)).map(({ topic, changed_fields: fields }) => [topic, fields]);
}

describe("productsUpsert", () => {
  it("makes a product of a number, and of everything", async () => {
    const everything = {
      productNumber: "saw",
      name: "Saw",
      description: "Sharp.",
      gtin: "4006381333931",
      taxRate: 7,
      manufacturerNumber: "M-1",
      isBatchManaged: true,
      reorderPoint: 3,
      targetMaximumQuantity: 9,
      storefrontVariants: [{ productId: "p1", variantId: null }],
      price: [eur(4), usd()],
      purchasePrices: [eur(2)],
      tags: ["sharp", "new"],
      canonicalProductId: shop.id.hammer,
    };
    const answer = await products({ products: [{ productNumber: "bare" }, everything] });
    assert.deepEqual(answer.userErrors, []);
    assert.equal(outcomes(answer), "CREATED CREATED");
    const [bare, saw] = answer.products;
    assert.deepEqual(
      answer.results.map(({ index, id }: any) => [index, id]),
      [
        [0, bare.id],
        [1, saw.id],
      ],
    );
    assert.deepEqual(
      [bare.productNumber, bare.name, bare.price, bare.purchasePrices],
      ["bare", null, [], null],
    );
    assert.deepEqual([saw.name, saw.gtin, saw.reorderPoint], ["Saw", "4006381333931", 3]);
    assert.deepEqual(saw.storefrontVariants, everything.storefrontVariants);
    const byCurrency = (a: any, b: any) => a.currencyId.localeCompare(b.currencyId);
    assert.deepEqual(saw.price, [eur(4), usd()].sort(byCurrency));
    assert.deepEqual(saw.purchasePrices, [eur(2)]);
    assert.deepEqual(tagsOf(saw), ["new", "sharp"]);
    const row = await rowOf("saw");
    assert.deepEqual([row.tax_rate, row.is_batch_managed, row.target_maximum_quantity], [7, true, 9]);
    assert.equal((await rowOf("bare")).tax_rate, 19);
  });
  const usd = () => ({ currencyId: shop.id.USD, net: 5, gross: 6, linked: false });

  it("gives each entry of storefrontVariants both keys", async () => {
    const upsert = (entry: object) =>
      products({ products: [{ productNumber: "synced", storefrontVariants: [entry, entry] }] });
    const made = await upsert({ productId: "p1" });
    const entry = { productId: "p1", variantId: null };
    assert.deepEqual(made.products[0].storefrontVariants, [entry, entry]);
    assert.equal(outcomes(await upsert({ productId: "p1" })), "UNCHANGED");
    assert.equal(outcomes(await upsert(entry)), "UNCHANGED");
    assert.equal(outcomes(await upsert({ productId: "p1", variantId: "v1" })), "UPDATED");
  });

  it("changes what is named, by id or number, leaves the rest, and null empties", async () => {
    const { products: made } = await products({
      products: [{ productNumber: "c1", name: "One", gtin: "1" }],
    });
    const answer = await products({
      products: [
        { id: made[0].id, productNumber: "c1-new", gtin: null },
        { productNumber: "nail", name: "Nail 2", price: [eur(1)] },
      ],
    });
    assert.equal(outcomes(answer), "UPDATED UPDATED");
    const [one, nail] = answer.products;
    assert.deepEqual([one.id, one.productNumber, one.name, one.gtin], [made[0].id, "c1-new", "One", null]);
    assert.deepEqual([nail.name, nail.price], ["Nail 2", [eur(1)]]);
    const emptied = await products({
      products: [{ productNumber: "nail", price: null, purchasePrices: null, tags: null }],
    });
    assert.deepEqual([outcomes(emptied), emptied.products[0].price], ["UPDATED", []]);
  });

  it("notices a change of a price or a tag alone", async () => {
    const row = { productNumber: "t1", price: [eur(1)], purchasePrices: [eur(1)], tags: ["a", "b"] };
    await products({ products: [row] });
    for (const change of [
      { price: [eur(2)] },
      { price: [] },
      { purchasePrices: [eur(2)] },
      { tags: ["b"] },
      { tags: ["b", "c"] },
    ])
      assert.equal(outcomes(await products({ products: [{ productNumber: "t1", ...change }] })), "UPDATED");
    const last = await products({ products: [{ productNumber: "t1", tags: ["c", "b", "c"] }] });
    assert.deepEqual([outcomes(last), tagsOf(last.products[0])], ["UNCHANGED", ["b", "c"]]);
  });

  it("writes nothing and tells no event of what is as it should be", async () => {
    const row = { productNumber: "u1", name: "Same", price: [eur(3)], tags: ["same"], reorderPoint: 2 };
    const made = await eventsOf(() => products({ products: [row] }));
    assert.deepEqual(made, [["product.created", null]]);
    const before = (await shop.owner.query("select xmin, ctid from erp.product order by id")).rows;
    const told = await eventsOf(async () => {
      assert.equal(
        outcomes(await products({ products: [row, { productNumber: "hammer" }] })),
        "UNCHANGED UNCHANGED",
      );
    });
    assert.deepEqual(told, []);
    // A lock alone changes neither place nor writer
    const places = (rows: any[]) => rows.map(({ ctid }) => ctid);
    const { rows } = await shop.owner.query("select ctid from erp.product order by id");
    assert.deepEqual(places(rows), places(before));
    const renamed = () => products({ products: [{ ...row, name: "Other" }] });
    assert.deepEqual(await eventsOf(renamed), [["product.updated", ["name"]]]);
  });

  it("makes variants with their parent, in any order", async () => {
    const answer = await products({
      products: [
        { productNumber: "shirt-m", parentProductNumber: "shirt" },
        { productNumber: "shirt", name: "Shirt" },
        { productNumber: "shirt-l", parentProductNumber: "shirt" },
      ],
    });
    assert.equal(outcomes(answer), "CREATED CREATED CREATED");
    assert.deepEqual(
      answer.products.map(({ parent }: any) => parent?.productNumber ?? null),
      ["shirt", null, "shirt"],
    );
    const refused = await products({
      products: [
        { productNumber: "hammer", parentProductNumber: "shirt-m" },
        { productNumber: "shirt", parentId: shop.id.glue },
        { productNumber: "x1", parentProductNumber: "nowhere" },
        { id: shop.id.nail, parentId: shop.id.nail },
      ],
    });
    assert.deepEqual(refusals(refused), [
      ["INVALID", "products.0.parentProductNumber"],
      ["INVALID", "products.1.parentId"],
      ["NOT_FOUND", "products.2.parentProductNumber"],
      ["INVALID", "products.3.parentId"],
    ]);
  });

  const mistakes: [row: () => object, code: string, field: string][] = [
    [() => ({ name: "no key" }), "REQUIRED", ""],
    [() => ({ productNumber: null }), "REQUIRED", ""],
    [() => ({ id: missingId("Product"), name: "x" }), "NOT_FOUND", ".id"],
    [() => ({ id: shop.id.nail, productNumber: null }), "REQUIRED", ".productNumber"],
    [() => ({ id: shop.id.glue, productNumber: "hammer" }), "NOT_UNIQUE", ".productNumber"],
    [() => ({ productNumber: " " }), "INVALID", ".productNumber"],
    [() => ({ productNumber: "n".repeat(256) }), "OUT_OF_RANGE", ".productNumber"],
    [() => ({ productNumber: "n", taxRate: 100.5 }), "OUT_OF_RANGE", ".taxRate"],
    [() => ({ productNumber: "n", taxRate: null }), "REQUIRED", ".taxRate"],
    [() => ({ productNumber: "n", reorderPoint: -1 }), "OUT_OF_RANGE", ".reorderPoint"],
    [() => ({ productNumber: "n", storefrontVariants: {} }), "INVALID", ".storefrontVariants"],
    [() => ({ productNumber: "n", storefrontVariants: [{}] }), "INVALID", ".storefrontVariants"],
    [() => ({ productNumber: "n", storefrontVariants: ["p"] }), "INVALID", ".storefrontVariants"],
    [() => ({ productNumber: "n", storefrontVariants: [[]] }), "INVALID", ".storefrontVariants"],
    ...[
      { productId: "p", variantID: "v" },
      { productId: "p", variantId: "" },
      { productId: "", variantId: "v" },
    ].map((entry): (typeof mistakes)[number] => [
      () => ({ productNumber: "n", storefrontVariants: [entry] }),
      "INVALID",
      ".storefrontVariants",
    ]),
    [
      () => ({ productNumber: "n", storefrontVariants: [{ productId: "p", variantId: 5 }] }),
      "INVALID",
      ".storefrontVariants",
    ],
    [
      () => ({ productNumber: "n", canonicalProductId: missingId("Product") }),
      "NOT_FOUND",
      ".canonicalProductId",
    ],
    [() => ({ productNumber: "n", price: [{ ...eur(1), net: -1 }] }), "OUT_OF_RANGE", ".price.0.net"],
    [() => ({ productNumber: "n", price: [eur(1), eur(1)] }), "NOT_UNIQUE", ".price.1.currencyId"],
    [
      () => ({ productNumber: "n", purchasePrices: [{ ...eur(1), currencyId: missingId("Currency") }] }),
      "NOT_FOUND",
      ".purchasePrices.0.currencyId",
    ],
    [() => ({ productNumber: "n", tags: ["ok", " "] }), "INVALID", ".tags.1"],
    [() => ({ productNumber: "n", tags: ["t".repeat(256)] }), "OUT_OF_RANGE", ".tags.0"],
  ];
  it("warns of a parent that is in stock itself, once", async () => {
    await shop.mutate("stockAdjust", { lines: [shop.line("nail", "A-1", { delta: 7 })] });
    const variants = ["blue", "red"].map((color) => ({
      productNumber: `nail-${color}`,
      parentProductNumber: "nail",
    }));
    const named = "warnings { code message field details }";
    const { warnings } = await products({ products: variants }, { select: named });
    const physicalStock = warnings[0].details.physicalStock;
    assert.ok(physicalStock >= 7);
    assert.deepEqual(
      warnings.map(({ code, field }: any) => [code, field]),
      [["PRODUCT_HAS_VARIANTS", ["products", "0", "parentProductNumber"]]],
    );
    assert.match(warnings[0].message, new RegExp(`^Product nail .* ${physicalStock} units of it in stock`));
    // It has them already
    assert.deepEqual((await products({ products: variants }, { select: named })).warnings, []);
    await products({ products: variants.map((each) => ({ ...each, parentProductNumber: null })) });
  });

  it("refuses each mistake by its row and field; alone or, if partial, without the others", async () => {
    const good = (n: number) => ({ productNumber: `good-${n}`, name: "Good" });
    for (const [row, code, field] of mistakes) {
      const path = `products.1${field}`;
      const label = `${JSON.stringify(row()).slice(0, 80)}: `;
      const refused = await products({ products: [good(1), row()] });
      assert.deepEqual(refusals(refused), [[code, path]], label);
      assert.deepEqual([refused.results, refused.products], [[], []]);
      assert.equal(await rowOf("good-1"), undefined);
    }
    const answer = await products({ partial: true, products: [good(2), ...mistakes.map(([row]) => row())] });
    assert.deepEqual(answer.userErrors, []);
    assert.equal(outcomes(answer), `CREATED${" REFUSED".repeat(mistakes.length)}`);
    assert.equal(answer.products.length, 1);
    const own = answer.results.slice(1).map(({ userErrors }: any) => userErrors[0]);
    assert.deepEqual(
      own.map(({ code, field }: any) => [code, field.join(".")]).slice(0, 7),
      mistakes.map(([, code, field], index) => [code, `products.${index + 1}${field}`]).slice(0, 7),
    );
    assert.equal((await rowOf("good-2")).name, "Good");
  });

  it("refuses a variant whose parent is refused, and does the rest if partial", async () => {
    const rows = [
      { productNumber: "p-child", parentProductNumber: "p-bad" },
      { productNumber: "p-bad", taxRate: -1 },
      { productNumber: "p-fine" },
    ];
    const answer = await products({ partial: true, products: rows });
    assert.equal(outcomes(answer), "REFUSED REFUSED CREATED");
    assert.equal(answer.results[0].id, null);
    assert.deepEqual(refusals(answer.results[0]), [["NOT_FOUND", "products.0.parentProductNumber"]]);
  });

  it("refuses the same product twice in a call", async () => {
    const rows = [{ productNumber: "nail" }, { id: shop.id.nail, name: "x" }];
    assert.deepEqual(refusals(await products({ products: rows })), [["NOT_UNIQUE", "products.1"]]);
    const twice = [{ productNumber: "twin" }, { productNumber: "twin" }];
    assert.deepEqual(refusals(await products({ products: twice })), [
      ["NOT_UNIQUE", "products.1.productNumber"],
    ]);
    assert.equal(outcomes(await products({ partial: true, products: twice })), "CREATED REFUSED");
  });

  it("leaves whether batches are kept while there is stock", async () => {
    await shop.mutate("stockAdjust", { lines: [shop.line("hammer", "A-1", { delta: 2 })] });
    const refused = await products({ products: [{ productNumber: "hammer", isBatchManaged: true }] });
    assert.deepEqual(refusals(refused), [["NOT_EDITABLE", "products.0.isBatchManaged"]]);
    assert.equal((await rowOf("hammer")).physical_stock, 2);
  });

  it("takes 1 to 250 rows", async () => {
    const rows = (count: number, name: string) =>
      Array.from({ length: count }, (_, n) => ({
        productNumber: `m-${n}`,
        name,
        price: [eur(1)],
        tags: ["m"],
      }));
    assert.deepEqual(refusals(await products({ products: [] })), [["REQUIRED", "products"]]);
    assert.deepEqual(refusals(await products({ products: rows(251, "x") })), [
      ["TOO_MANY_LINES", "products"],
    ]);
    const all = await products({ products: rows(250, "x") });
    assert.equal(all.products.length, 250);
    // Lists are in the order of ids: that of the rows
    assert.deepEqual(
      all.products.map(({ id }: any) => id),
      all.products.map(({ id }: any) => id).sort(),
    );
    const again = await products({ products: rows(250, "x") });
    assert.equal(outcomes(again), "UNCHANGED ".repeat(250).trim());
  });

  it("is forbidden without its scope, and needs no other; an id of something else is no id", async () => {
    const input = { products: [{ productNumber: "scoped" }] };
    for (const request of [{}, { write: ["stocks", "orders"] }]) {
      const answer = await shop.tryMutate("productsUpsert", input, { token: await shop.token(request) });
      assert.deepEqual(answer.codes, ["FORBIDDEN"]);
    }
    const token = await shop.token({ read: [], write: ["products"] });
    const narrow = { token, select: "results { outcome id } products { id name }" };
    assert.equal(outcomes(await products(input, narrow)), "CREATED");
    for (const row of [{ id: shop.id.hall }, { id: "x" }, { productNumber: "n", parentId: shop.id.EUR }])
      assert.deepEqual((await shop.tryMutate("productsUpsert", { products: [row] })).codes, [
        "BAD_USER_INPUT",
      ]);
  });

  it("only tries with validateOnly, and names refused rows also when partial", async () => {
    const rows = [
      { productNumber: "tried", tags: ["tried"] },
      { productNumber: "nail", taxRate: -1 },
    ];
    for (const partial of [true, false]) {
      const tried = await products({ products: rows, partial, validateOnly: true });
      assert.deepEqual(refusals(tried), [["OUT_OF_RANGE", "products.1.taxRate"]]);
      const fine = await products({ products: rows.slice(0, 1), partial, validateOnly: true });
      assert.deepEqual([fine.userErrors, fine.results], [[], []]);
    }
    assert.equal(await rowOf("tried"), undefined);
    const { rows: tags } = await shop.owner.query("select from erp.tag where name = 'tried'");
    assert.equal(tags.length, 0);
  });

  it("answers the first result again for an idempotency key", async () => {
    const input = { products: [{ productNumber: "once" }, { productNumber: " " }], partial: true };
    const first = await products({ ...input, idempotencyKey: "k1" });
    assert.equal(outcomes(first), "CREATED REFUSED");
    assert.deepEqual(await products({ ...input, idempotencyKey: "k1" }), first);
    const other = await products({ products: [{ productNumber: "other" }], idempotencyKey: "k1" });
    assert.deepEqual(refusals(other), [["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"]]);
  });

  it("lets callers write the same rows at once, in any order", async () => {
    const numbers = Array.from({ length: 40 }, (_, n) => `r-${n}`);
    const call = (name: string, order: string[]) =>
      products({
        products: order.map((productNumber) => ({
          productNumber,
          name,
          tags: [`${name}-${productNumber}`, "r"],
        })),
      });
    for (const round of [1, 2]) {
      const answers = await Promise.all([
        call(`a${round}`, numbers),
        call(`b${round}`, numbers.toReversed()),
        call(`c${round}`, numbers),
      ]);
      assert.deepEqual(
        answers.flatMap(({ userErrors }: any) => userErrors),
        [],
      );
      const created = answers.filter((answer) => outcomes(answer).includes("CREATED"));
      assert.equal(created.length, round === 1 ? 1 : 0);
    }
    const { rows } = await shop.owner.query(
      "select count(*)::int as count, count(distinct name)::int as names from erp.product where product_number ^@ 'r-'",
    );
    assert.deepEqual(rows[0], { count: 40, names: 1 });
  });
});
