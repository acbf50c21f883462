import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import { ordersInShort, reorderingIn } from "../lib/reordering.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

let shop: ShippingShop;
let re: ReturnType<typeof reorderingIn>;
before(async () => {
  shop = await openShippingShop({ poolSize: 20 });
  re = reorderingIn(shop);
});
after(async () => {
  await assertLedgerIsRight(shop);
  await shop.close();
});

const countOrders = async () =>
  (await shop.sql("select count(*)::int as count from erp.supplier_order"))[0].count as number;
/** Calls that must be refused: nothing changes. */
const refused = async (lines: object[], rest?: object) => {
  const before = await countOrders();
  const payload = await re.order(lines, rest);
  assert.equal(await countOrders(), before);
  return payload;
};
let made = 0;
/** Makes a product of which the hall needs ten. */
const needed = async (supplier?: string, terms: object = {}) => {
  const name = await re.newProduct(`needed-${++made}`);
  await re.rule(name, "hall", { reorderPoint: 5, targetMaximumQuantity: 10 });
  if (supplier) await re.sell(supplier, name, terms);
  return name;
};

describe("supplierOrdersCreateFromProposals", () => {
  it("makes an open order for each supplier, warehouse and currency", async () => {
    const [one, two, three, four] = [
      await needed("forge", { prices: { EUR: 2 } }),
      await needed("yankee", { prices: { USD: 3 } }),
      await needed("forge", { prices: { EUR: 5 } }),
      await needed("forge", { prices: { USD: 7 } }),
    ];
    await re.rule(three, "shed", { reorderPoint: 4 });
    const payload = await re.order(
      [
        re.line(one, "hall", 10),
        re.line(two, "hall", 4),
        re.line(three, "shed", 6),
        re.line(three, "hall", 3),
        re.line(four, "hall", 1),
      ],
      { comment: "Monday" },
    );
    assert.deepEqual(payload.userErrors, []);
    assert.deepEqual(payload.warnings, []);
    assert.deepEqual(ordersInShort(payload), [
      `forge to hall in EUR: 10 ${one}, 3 ${three}`,
      `yankee to hall in USD: 4 ${two}`,
      `forge to shed in EUR: 6 ${three}`,
      `forge to hall in USD: 1 ${four}`,
    ]);
    const [first] = payload.supplierOrders;
    assert.deepEqual([first.state, first.comment, first.amountNet], ["open", "Monday", 35]);
    // What is on order isn't proposed again, as far as it goes
    assert.deepEqual(await re.of(one), []);
    assert.deepEqual(
      (await re.of(two)).map(({ quantity, onOrderQuantity }) => [quantity, onOrderQuantity]),
      [[6, 4]],
    );
  });

  it("takes another supplier, and orders all proposals as they are read", async () => {
    const product = await needed("forge");
    const { supplierOrders } = await re.order([re.line(product, "hall", 2, 0, { supplierId: shop.id.acme })]);
    assert.deepEqual(ordersInShort({ supplierOrders }), [`acme to hall in EUR: 2 ${product}`]);
    const [proposal] = await re.of(product);
    const again = await re.order([re.line(product, "hall", proposal!.quantity, proposal!.onOrderQuantity)]);
    assert.deepEqual(ordersInShort(again), [`forge to hall in EUR: 8 ${product}`]);
  });

  it("warns about quantities that nobody sells, and about small orders", async () => {
    await re.newSupplier("big", { minimum_order_value: 100 });
    const [one, two] = [
      await needed("big", { min: 6, steps: 3, prices: { EUR: 5 } }),
      await needed("big", { prices: { EUR: 5 } }),
    ];
    const { warnings, supplierOrders } = await re.order([re.line(two, "hall", 9), re.line(one, "hall", 10)]);
    assert.deepEqual(warnings, [
      {
        code: "MINIMUM_ORDER_VALUE",
        field: null,
        details: {
          supplierOrderNumber: supplierOrders[0].number,
          amountNet: 95,
          minimumOrderValue: 100,
        },
      },
      {
        code: "PURCHASE_QUANTITY",
        field: ["lines", "1", "quantity"],
        details: { productNumber: one, quantity: 10, minPurchase: 6, purchaseSteps: 3 },
      },
    ]);
    const [third, fourth] = [await needed("big", { min: 6, prices: { EUR: 50 } }), await needed("big")];
    const more = await re.order([re.line(fourth, "hall", 1), re.line(third, "hall", 3)]);
    assert.deepEqual(
      more.warnings.map(({ code, field }: any) => [code, field?.join(".")]),
      [["PURCHASE_QUANTITY", "lines.1.quantity"]],
    );
  });

  it("refuses what is not there, and lines that make no sense", async () => {
    const product = await needed("forge");
    const lonely = await needed();
    await re.newSupplier("former", { active: false });
    await re.sell("former", lonely);
    const gone = (name: string) => shop.id[name]!.replace(/.{12}$/, "000000000000");
    for (const [lines, ...expected] of [
      [[], ["REQUIRED", "lines"]],
      [Array.from({ length: 251 }, () => re.line(product, "hall", 1)), ["TOO_MANY_LINES", "lines"]],
      [
        [
          { ...re.line(product, "hall", 0), productId: gone(product) },
          { ...re.line(product, "hall", 1), warehouseId: gone("hall") },
          re.line(product, "hall", 0),
          re.line(product, "hall", 1),
          re.line(lonely, "hall", 1),
        ],
        ["NOT_FOUND", "lines.0.productId"],
        ["OUT_OF_RANGE", "lines.0.quantity"],
        ["NOT_FOUND", "lines.1.warehouseId"],
        ["OUT_OF_RANGE", "lines.2.quantity"],
        ["NOT_UNIQUE", "lines.3.productId"],
        ["REQUIRED", "lines.4.supplierId"],
      ],
      [[re.line(product, "hall", 1, 0, { supplierId: gone("forge") })], ["NOT_FOUND", "lines.0.supplierId"]],
      [
        [re.line(product, "hall", 1, 0, { supplierId: shop.id.former })],
        ["SUPPLIER_INACTIVE", "lines.0.supplierId"],
      ],
    ] as [object[], ...unknown[]][])
      assert.deepEqual(refusals(await refused(lines)), expected);
    const read = await shop.token({ read: ["supplier_orders"] });
    const { codes } = await shop.tryMutate(
      "supplierOrdersCreateFromProposals",
      { lines: [re.line(product, "hall", 1)] },
      { token: read },
    );
    assert.deepEqual(codes, ["FORBIDDEN"]);
  });

  it("refuses stale proposals: when more is on order, or when there is enough", async () => {
    const [product, other] = [await needed("forge"), await needed("forge")];
    await re.order([re.line(product, "hall", 4)]);
    const payload = await refused([re.line(other, "hall", 10), re.line(product, "hall", 10)]);
    assert.deepEqual(refusals(payload), [["PROPOSAL_STALE", "lines.1.onOrderQuantity"]]);
    assert.deepEqual(payload.userErrors[0].details, {
      ...{ productNumber: product, position: 4, reorderPoint: 5, onOrderQuantity: 4 },
    });
    await shop.store(product, "A-1", 2);
    const enough = await refused([re.line(product, "hall", 10, 4)]);
    assert.deepEqual(refusals(enough), [["PROPOSAL_STALE", "lines.0.onOrderQuantity"]]);
    assert.equal(enough.userErrors[0].details.position, 6);
    // No proposal was ever made for this warehouse
    assert.deepEqual(refusals(await refused([re.line(product, "shed", 1)])), [
      ["PROPOSAL_STALE", "lines.0.onOrderQuantity"],
    ]);
    // Less on order than the proposal says is no harm
    assert.deepEqual((await re.order([re.line(other, "hall", 10, 3)])).userErrors, []);
  });

  it("a repetition with the same key orders once, and a rehearsal nothing", async () => {
    const product = await needed("forge");
    const lines = [re.line(product, "hall", 10)];
    assert.deepEqual((await refused(lines, { validateOnly: true })).userErrors, []);
    const [first, second] = [
      await re.order(lines, { idempotencyKey: "monday" }),
      await re.order(lines, { idempotencyKey: "monday" }),
    ];
    assert.deepEqual(second, first);
    assert.deepEqual((await re.of(product)).length, 0);
  });

  it("two calls at once don't order twice, whichever process they reach", async () => {
    const processes = [shop, await shop.another()];
    for (let round = 0; round < 4; round++) {
      const products = [await needed("forge"), await needed("yankee"), await needed("acme")];
      const lines = products.map((product) => re.line(product, "hall", 3));
      const payloads = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          re.order(n % 2 ? lines.toReversed() : lines, {}, { process: processes[n % 2] }),
        ),
      );
      const done = payloads.filter(({ userErrors }) => userErrors.length === 0);
      assert.equal(done.length, 1);
      for (const payload of payloads.filter((one) => one !== done[0]))
        assert.deepEqual([...new Set(refusals(payload).map(([code]) => code))], ["PROPOSAL_STALE"]);
      for (const product of products)
        assert.deepEqual(
          (await re.of(product)).map(({ onOrderQuantity }) => onOrderQuantity),
          [3],
        );
    }
  });

  it("works beside orders by hand of the same products", async () => {
    for (let round = 0; round < 4; round++) {
      const products = [await needed("forge"), await needed("yankee")];
      const byHand = (supplier: string) =>
        shop.mutate("supplierOrderCreate", {
          supplierId: shop.id[supplier],
          lineItems: products.map((product) => ({ productId: shop.id[product], quantity: 1 })),
        });
      const payloads = await Promise.all([
        re.order(products.map((product) => re.line(product, "hall", 3, 2))),
        byHand("acme"),
        byHand("forge"),
      ]);
      for (const { userErrors } of payloads) assert.deepEqual(userErrors, []);
    }
  });
});

describe("supplierOrderCreate and supplierOrderLineItemsSet", () => {
  it("warn about quantities that the supplier does not sell, and small orders", async () => {
    await re.newSupplier("dozen", { minimum_order_value: 50 });
    const product = await re.newProduct("eggs");
    await re.sell("dozen", product, { min: 12, steps: 12, prices: { EUR: 1 } });
    const select = "supplierOrder { id } warnings { code field }";
    const lineItems = (quantity: number) => [
      { productId: shop.id.hammer, quantity: 1 },
      { productId: shop.id[product], quantity },
    ];
    const short = ({ warnings }: any) => warnings.map(({ code, field }: any) => [code, field?.join(".")]);
    const made = await shop.mutate(
      "supplierOrderCreate",
      { supplierId: shop.id.dozen, lineItems: lineItems(18) },
      { select },
    );
    assert.deepEqual(short(made), [
      ["MINIMUM_ORDER_VALUE", undefined],
      ["PURCHASE_QUANTITY", "lineItems.1.quantity"],
    ]);
    const set = (quantity: number) =>
      shop.mutate(
        "supplierOrderLineItemsSet",
        { id: made.supplierOrder.id, lineItems: lineItems(quantity) },
        { select },
      );
    assert.deepEqual(short(await set(6)), short(made));
    assert.deepEqual(short(await set(60)), []);
    const amounts = await shop.sql(
      "select amount_net::float from erp.supplier_order where id = $1",
      uuidOf(made.supplierOrder.id),
    );
    assert.deepEqual(amounts, [{ amount_net: 60 }]);
  });
});
