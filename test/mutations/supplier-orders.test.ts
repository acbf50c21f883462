import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";

let shop: Shop;
before(async () => {
  shop = await openShop();
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const fields = `supplierOrder { id number state taxStatus amountNet amountTotal positionPrice supplierSnapshot warehouseSnapshot comment
  supplierOrderNumber deliveryDate currency { isoCode } warehouse { code } supplier { number }
  lineItems { edges { node { id position label productNumber supplierProductNumber quantity openQuantity unitPrice totalPrice taxRate product { productNumber } } } } }`;
const mutate = (name: string, input: object) => shop.mutate(name, input, { select: fields });
const create = async (input: object = {}) => {
  const payload = await mutate("supplierOrderCreate", { supplierId: shop.id.acme, ...input });
  assert.deepEqual(payload.userErrors, []);
  return payload.supplierOrder;
};
const line = (product: string, quantity: number, rest: object = {}) => ({
  productId: shop.id[product],
  quantity,
  ...rest,
});
const linesOf = ({ lineItems }: any) => lineItems.edges.map(({ node }: any) => node);
const openQuantity = async (product: string) => {
  const query = `{ product(id: "${shop.id[product]}") { openSupplierOrderQuantity lastSupplierOrderAt } }`;
  return (await shop.ask(await shop.token(), { query })).body.data.product;
};

describe("supplierOrderCreate", () => {
  it("takes what is left out from the supplier, the products and the shop", async () => {
    const order = await create({ lineItems: [line("hammer", 3, { unitPrice: 2.5 }), line("nail", 100)] });
    assert.match(order.number, /^PO-\d+$/);
    assert.deepEqual(
      [
        order.state,
        order.taxStatus,
        order.currency.isoCode,
        order.warehouse.code,
        order.supplierSnapshot.name,
      ],
      ["open", "net", "EUR", "hall", "acme"],
    );
    assert.deepEqual(
      linesOf(order).map((item: any) => [
        item.position,
        item.label,
        item.quantity,
        item.unitPrice,
        item.totalPrice,
        item.taxRate,
      ]),
      [
        [1, "Hammer", 3, 2.5, 7.5, 19],
        [2, "Nail", 100, null, null, 19],
      ],
    );
    assert.deepEqual([order.positionPrice, order.amountNet, order.amountTotal], [7.5, 7.5, 8.93]);
  });

  it("takes prices and numbers from the terms of the supplier, in the currency of the order", async () => {
    await shop.mutate("productSupplierConfigurationCreate", {
      productId: shop.id.hammer,
      supplierId: shop.id.yankee,
      supplierProductNumber: "Y-7",
      purchasePrices: [
        { currencyId: shop.id.USD, net: 10, gross: 11.9 },
        { currencyId: shop.id.EUR, net: 8, gross: 9.52 },
      ],
    });
    const order = await create({
      supplierId: shop.id.yankee,
      taxStatus: "gross",
      lineItems: [line("hammer", 2)],
    });
    assert.deepEqual([order.currency.isoCode, order.amountTotal, order.amountNet], ["USD", 23.8, 20]);
    assert.deepEqual([linesOf(order)[0].unitPrice, linesOf(order)[0].supplierProductNumber], [11.9, "Y-7"]);
  });

  it("keeps what is still to come, and when it was last ordered", async () => {
    const before = await openQuantity("glue");
    await create({ orderDateTime: "2026-03-01T10:00:00Z", lineItems: [line("glue", 4), line("glue", 1)] });
    const after = await openQuantity("glue");
    assert.equal(after.openSupplierOrderQuantity, before.openSupplierOrderQuantity + 5);
    assert.equal(after.lastSupplierOrderAt, "2026-03-01T10:00:00+00:00");
  });

  it("keeps the seconds of moments, also of its lines", async () => {
    const expectedDeliveryDate = "2026-04-30T23:59:59.9Z";
    const { id } = await create({
      orderDateTime: "2026-03-31T23:59:59.9Z",
      deliveryDate: "2026-04-30T23:59:59.9Z",
      lineItems: [line("glue", 1, { expectedDeliveryDate })],
    });
    const { rows } = await shop.owner.query(`
      select (o.order_date_time at time zone 'UTC')::text as ordered, (o.delivery_date at time zone 'UTC')::text as expected,
        (l.expected_delivery_date at time zone 'UTC')::text as line
      from erp.supplier_order o join erp.supplier_order_line_item l on l.supplier_order_id = o.id where o.id = '${uuidOf(id)}'`);
    assert.deepEqual(rows, [
      { ordered: "2026-03-31 23:59:59", expected: "2026-04-30 23:59:59", line: "2026-04-30 23:59:59" },
    ]);
  });

  it("refuses what is not there, and lines that make no sense", async () => {
    const gone = (name: string) => shop.id[name]!.replace(/.{12}$/, "000000000000");
    for (const [input, ...expected] of [
      [{ supplierId: gone("acme") }, ["NOT_FOUND", "supplierId"]],
      [{ warehouseId: gone("hall") }, ["NOT_FOUND", "warehouseId"]],
      [{ currencyId: gone("EUR") }, ["NOT_FOUND", "currencyId"]],
      [{ taxStatus: "free" }, ["INVALID", "taxStatus"]],
      [
        {
          lineItems: [
            line("hammer", 0),
            line("nail", 1, { unitPrice: -1 }),
            { productId: gone("nail"), quantity: 1 },
            line("nail", 1, { taxRate: 101 }),
          ],
        },
        ["OUT_OF_RANGE", "lineItems.0.quantity"],
        ["OUT_OF_RANGE", "lineItems.1.unitPrice"],
        ["NOT_FOUND", "lineItems.2.productId"],
        ["OUT_OF_RANGE", "lineItems.3.taxRate"],
      ],
      [{ lineItems: Array.from({ length: 251 }, () => line("nail", 1)) }, ["TOO_MANY_LINES", "lineItems"]],
    ] as [object, ...unknown[]][]) {
      const payload = await mutate("supplierOrderCreate", { supplierId: shop.id.acme, ...input });
      assert.deepEqual(refusals(payload), expected);
    }
  });
});

describe("supplierOrderLineItemsSet", () => {
  it("changes, adds and removes lines, and computes the totals again; a discount on the whole stays", async () => {
    const order = await create({
      lineItems: [line("hammer", 1, { unitPrice: 10 }), line("nail", 1, { unitPrice: 1 })],
    });
    await shop.owner.query(
      "update erp.supplier_order set amount_net = amount_net - 1, amount_total = amount_total - 1 where id = $1",
      [order.id.slice(-36)],
    );
    const [hammer] = linesOf(order);
    const { supplierOrder } = await mutate("supplierOrderLineItemsSet", {
      id: order.id,
      lineItems: [
        line("glue", 2, { unitPrice: 5 }),
        { id: hammer.id, ...line("hammer", 2, { unitPrice: 10 }) },
      ],
    });
    assert.deepEqual(
      linesOf(supplierOrder).map(({ id, product, quantity }: any) => [
        id === hammer.id,
        product.productNumber,
        quantity,
      ]),
      [
        [false, "glue", 2],
        [true, "hammer", 2],
      ],
    );
    assert.deepEqual(
      [supplierOrder.positionPrice, supplierOrder.amountNet, supplierOrder.amountTotal],
      [30, 29, 34.7],
    );
    assert.equal((await openQuantity("nail")).openSupplierOrderQuantity >= 0, true);
  });

  it("refuses lines of another order, and the same line twice", async () => {
    const [one, other] = [
      await create({ lineItems: [line("nail", 1)] }),
      await create({ lineItems: [line("nail", 1)] }),
    ];
    const { id } = linesOf(other)[0];
    const mine = linesOf(one)[0].id;
    const payload = await mutate("supplierOrderLineItemsSet", {
      id: one.id,
      lineItems: [
        { id, ...line("nail", 1) },
        { id: mine, ...line("nail", 1) },
        { id: mine, ...line("nail", 2) },
      ],
    });
    assert.deepEqual(refusals(payload), [
      ["NOT_FOUND", "lineItems.0.id"],
      ["NOT_UNIQUE", "lineItems.2.id"],
    ]);
  });
});

describe("states of supplier orders", () => {
  const transitions: [path: string[], state: string, allowed: string[]][] = [
    [[], "open", ["Cancel", "Confirm", "Send"]],
    [["Send"], "sent", ["Cancel", "Confirm"]],
    [["Confirm"], "confirmed", ["Cancel", "Complete"]],
    [["Send", "Confirm", "Complete"], "completed", []],
    [["Send", "Cancel"], "cancelled", []],
  ];
  for (const [path, state, allowed] of transitions) {
    it(`${state}: ${allowed.join(", ") || "nothing"} and no more`, async () => {
      for (const action of ["Send", "Confirm", "Complete", "Cancel"]) {
        const { id } = await create({ lineItems: [line("nail", 2)] });
        for (const step of path)
          assert.deepEqual((await mutate(`supplierOrder${step}`, { id })).userErrors, []);
        const { supplierOrder, userErrors } = await mutate(`supplierOrder${action}`, { id });
        if (allowed.includes(action)) {
          assert.deepEqual(userErrors, []);
          assert.notEqual(supplierOrder.state, state);
        } else {
          assert.equal(userErrors[0].code, "INVALID_STATE_TRANSITION");
          assert.equal(userErrors[0].details.state, state);
          const named = allowed.map((name) => name.toLowerCase()).sort();
          assert.deepEqual(userErrors[0].details.allowedActions, named);
        }
      }
    });
  }

  it("what is cancelled or completed is no longer expected", async () => {
    const before = (await openQuantity("hammer")).openSupplierOrderQuantity;
    const orders = [
      await create({ lineItems: [line("hammer", 2)] }),
      await create({ lineItems: [line("hammer", 3)] }),
    ];
    assert.equal((await openQuantity("hammer")).openSupplierOrderQuantity, before + 5);
    await mutate("supplierOrderCancel", { id: orders[0].id });
    await mutate("supplierOrderConfirm", {
      id: orders[1].id,
      supplierOrderNumber: "AB-1",
      deliveryDate: "2026-12-01T08:00:00Z",
    });
    const { supplierOrder } = await mutate("supplierOrderComplete", { id: orders[1].id });
    assert.deepEqual(
      [supplierOrder.supplierOrderNumber, supplierOrder.deliveryDate],
      ["AB-1", "2026-12-01T08:00:00+00:00"],
    );
    assert.equal((await openQuantity("hammer")).openSupplierOrderQuantity, before);
  });
});

describe("supplierOrderUpdate and supplierOrderDelete", () => {
  it("changes what is named; once sent, only dates, the supplier's number and the comment", async () => {
    const { id } = await create({ comment: "old", lineItems: [line("nail", 1, { unitPrice: 10 })] });
    const { supplierOrder } = await mutate("supplierOrderUpdate", {
      id,
      supplierId: shop.id.forge,
      warehouseId: shop.id.shed,
      taxStatus: "gross",
    });
    assert.deepEqual(
      [
        supplierOrder.supplier.number,
        supplierOrder.supplierSnapshot.name,
        supplierOrder.warehouseSnapshot.code,
        supplierOrder.comment,
      ],
      ["forge", "forge", "shed", "old"],
    );
    assert.deepEqual([supplierOrder.amountTotal, supplierOrder.amountNet], [10, 8.4]);
    await mutate("supplierOrderSend", { id });
    assert.deepEqual(
      refusals(await mutate("supplierOrderUpdate", { id, supplierId: shop.id.acme, comment: "new" })),
      [["NOT_EDITABLE", "supplierId"]],
    );
    assert.deepEqual(refusals(await mutate("supplierOrderLineItemsSet", { id, lineItems: [] })), [
      ["NOT_EDITABLE", "id"],
    ]);
    assert.equal((await mutate("supplierOrderUpdate", { id, comment: null })).supplierOrder.comment, null);
  });

  it("deletes what is open or cancelled", async () => {
    const { id } = await create({ lineItems: [line("nail", 1)] });
    await mutate("supplierOrderSend", { id });
    const remove = () => shop.mutate("supplierOrderDelete", { id }, { select: "deletedSupplierOrderId" });
    assert.deepEqual(refusals(await remove()), [["NOT_EDITABLE", "id"]]);
    await mutate("supplierOrderCancel", { id });
    assert.equal((await remove()).deletedSupplierOrderId, id);
    assert.deepEqual(refusals(await remove()), [["NOT_FOUND", "id"]]);
  });
});
