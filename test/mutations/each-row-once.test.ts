import assert from "node:assert/strict";
import { after, afterEach, before, it } from "node:test";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";

// A shipment and a receipt update each row once, and tell one event of it

const products = ["bolt", "clamp", "drill", "file"];
const tables = ["erp.product", "erp.batch", "ledger.stock", "ledger.warehouse_stock", "erp.sales_order"]
  .concat(["erp.sales_order_line_item", "erp.fulfillment_order", "erp.fulfillment_order_line_item"])
  .concat(["erp.fulfillment", "erp.fulfillment_line_item", "erp.goods_receipt"])
  .concat(["erp.goods_receipt_line_item", "erp.supplier_order", "erp.supplier_order_line_item"]);

/** Notes each row that is updated, and each event. */
const notes = `
  create schema notes;
  create table notes.note (what text, id uuid);
  create function notes.take() returns trigger language plpgsql security definer as $$
    begin
      insert into notes.note
      select case tg_op when 'UPDATE' then tg_table_name::text else to_jsonb(new) ->> 'topic' end,
        (to_jsonb(new) ->> case tg_op when 'UPDATE' then 'id' else 'subject_id' end)::uuid;
      return null;
    end $$;
  create trigger notes after insert on events.outbox for each row execute function notes.take();
  ${tables.map((table) => `create trigger notes after update on ${table} for each row execute function notes.take();`).join("\n")}`;

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
  for (const product of products) {
    const [row] = await shop.sql(
      `insert into erp.product (product_number) values ('${product}') returning id`,
    );
    shop.id[product] = `gid://service/Product/${row.id}`;
    await shop.store(product, "A-1", 20);
    await shop.store(product, "hall", 20);
  }
  await shop.store("glue", "A-2", 20, "G1");
  await shop.sql(notes);
});
afterEach(() => assertLedgerIsRight(shop));
after(() => shop.close());

/** What a call updates and tells: how many rows and events of each kind. Fails when one of them is updated or told twice. */
async function written(call: () => Promise<{ userErrors: unknown[] }>): Promise<Record<string, number>> {
  await shop.sql("delete from notes.note");
  assert.deepEqual((await call()).userErrors, []);
  const found = await shop.sql("select what, id, count(*)::int as times from notes.note group by what, id");
  assert.deepEqual(
    found.filter(({ times }) => times > 1),
    [],
  );
  return Object.fromEntries(
    [...Map.groupBy(found, ({ what }) => what)]
      .map(([what, rows]) => [what, rows.length] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

it("a shipment of several lines, of which some are assigned", async () => {
  const order = await shop.order(
    [...products, "bolt", "glue"].map((product) => ({ product, quantity: 3 })),
    [
      {
        lines: [
          [0, 3],
          [1, 2],
          [4, 3],
        ],
      },
    ],
    { state: "in_progress" },
  );
  assert.deepEqual(await written(() => shop.ship(order, { trackingCodes: ["T-1"] })), {
    batch: 1,
    "batch.updated": 1,
    "fulfillment.created": 1,
    fulfillment_order: 2,
    "fulfillment_order.closed": 2,
    "fulfillment_order.created": 1,
    fulfillment_order_line_item: 7,
    "order.state_changed": 1,
    "order.updated": 1,
    product: 5,
    "product.updated": 5,
    sales_order: 1,
    sales_order_line_item: 6,
    stock: 5,
    "stock.changed": 10,
    "stock_movement.created": 7,
    warehouse_stock: 5,
  });
});

it("a shipment of a part of a fulfillment order, and of the rest", async () => {
  const order = await shop.order(
    [
      { product: "drill", quantity: 3 },
      { product: "file", quantity: 2 },
    ],
    [
      {
        lines: [
          [0, 3],
          [1, 2],
        ],
      },
    ],
    { state: "in_progress" },
  );
  const [fulfillmentOrder] = order.fulfillmentOrders;
  const lines = [{ fulfillmentOrderLineItemId: fulfillmentOrder!.lines[0], quantity: 1 }];
  const same = {
    "fulfillment.created": 1,
    fulfillment_order: 1,
    "order.state_changed": 1,
    "order.updated": 1,
    sales_order: 1,
  };
  assert.deepEqual(await written(() => shop.fulfill(fulfillmentOrder!, { lines })), {
    ...same,
    fulfillment_order_line_item: 1,
    product: 1,
    "product.updated": 1,
    sales_order_line_item: 1,
    stock: 1,
    "stock.changed": 2,
    "stock_movement.created": 1,
    warehouse_stock: 1,
  });
  assert.deepEqual((await shop.stateOf(order)).fulfillmentOrders, [["InProgress", true]]);
  assert.deepEqual(await written(() => shop.fulfill(fulfillmentOrder!)), {
    ...same,
    "fulfillment_order.closed": 1,
    fulfillment_order_line_item: 2,
    product: 2,
    "product.updated": 2,
    sales_order_line_item: 2,
    stock: 3,
    "stock.changed": 4,
    "stock_movement.created": 2,
    warehouse_stock: 2,
  });
  assert.deepEqual((await shop.stateOf(order)).fulfillmentOrders, [["Closed", false]]);
});

it("a receipt of 20 lines of five supplier orders", async () => {
  const lines: object[] = [];
  for (let nth = 0; nth < 5; nth++) {
    const { supplierOrder } = await shop.mutate(
      "supplierOrderCreate",
      {
        supplierId: shop.id.acme,
        lineItems: products.map((product) => ({ productId: shop.id[product], quantity: 4, unitPrice: 1 })),
      },
      { select: "supplierOrder { id lineItems { edges { node { id product { id } } } } }" },
    );
    await shop.mutate("supplierOrderConfirm", { id: supplierOrder.id });
    for (const { node } of supplierOrder.lineItems.edges) {
      const line = { productId: node.product.id, supplierOrderLineItemId: node.id };
      // The first order is not delivered completely, and of the last one comes too much
      const quantity = nth === 0 ? 3 : nth === 4 ? 5 : 4;
      lines.push({ ...line, quantity, plannedDisposalQuantity: nth === 4 ? 1 : 0 });
    }
  }
  const { goodsReceipt } = await shop.mutate(
    "goodsReceiptCreate",
    { lineItems: lines },
    { select: "goodsReceipt { id }" },
  );
  await shop.mutate("goodsReceiptApprove", { id: goodsReceipt.id });
  assert.deepEqual(await written(() => shop.mutate("goodsReceiptComplete", { id: goodsReceipt.id })), {
    goods_receipt: 1,
    "goods_receipt.completed": 1,
    goods_receipt_line_item: 4,
    product: 4,
    "product.updated": 4,
    stock: 12,
    "stock.changed": 8,
    "stock_movement.created": 24,
    supplier_order: 5,
    "supplier_order.delivered": 4,
    supplier_order_line_item: 20,
    warehouse_stock: 4,
  });
});
