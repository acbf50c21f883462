import type { GrowingShop } from "./growing-shop.ts";

/** What stays the same from day to day. */
export interface Scene {
  credential: string;
  channel: string;
  currency: string;
  warehouse: string;
}

/** New products, customers, suppliers and orders, as an import brings them. */
export async function bring(shop: GrowingShop, { channel, currency }: Scene, n: number): Promise<void> {
  const price = [{ currency_id: currency, net: 10, gross: 11.9 }];
  const product = (of: string) => ({
    ...{
      product_number: `${of}-${n}`,
      name: `Product ${n}`,
      tags: ["a", `b-${n}`],
      price,
      purchase_prices: price,
    },
    translations: [{ locale: "de", name: `Produkt ${n}` }],
    images: [{ url: `https://cdn.example.com/${n}`, alt_text: "It" }],
  });
  const products = ["plain", "other", "parent"].map(product);
  await shop.run("products_upsert", { products });
  const variant = { ...product("variant"), parent_product_number: `parent-${n}` };
  const batched = { ...product("batched"), is_batch_managed: true };
  await shop.run("products_upsert", { products: [{ ...products[0], name: "Changed" }, variant, batched] });
  const customer = { storefront_id: `c-${n}`, sales_channel_id: channel, email: `c-${n}@example.com` };
  for (const last_name of ["Lund", "Lind"])
    await shop.run("customers_upsert", {
      customers: [{ ...customer, first_name: "Ada", last_name, tags: ["c"] }],
    });
  for (const name of ["Acme", "Forge"])
    await shop.run("suppliers_upsert", { suppliers: [{ number: `s-${n}`, name, currency_id: currency }] });
  const customer_id = await shop.ask("select id from erp.customer where storefront_id = $1", `c-${n}`);
  const line = { product_number: `plain-${n}`, unit_price: 2, tax_rate: 19 };
  const orders = ["ship", "fulfil", "cancel"].map((of) => ({
    ...{ storefront_id: `${of}-${n}`, sales_channel_id: channel, order_number: `${of}-${n}`, customer_id },
    tags: ["o"],
    line_items: [2, 3].map((quantity) => ({ ...line, identifier: `${quantity}`, quantity })),
  }));
  await shop.run("orders_upsert", { orders });
  orders[0]!.line_items[0]!.quantity++;
  await shop.run("orders_upsert", { orders: [orders[0]!] });
}

/** Stock, alone and together. */
export async function book(shop: GrowingShop, scene: Scene, n: number): Promise<void> {
  const product_id = await shop.ask("select id from erp.product where product_number = $1", `plain-${n}`);
  const other = await shop.ask("select id from erp.product where product_number = $1", `other-${n}`);
  const batched = await shop.ask("select id from erp.product where product_number = $1", `batched-${n}`);
  const { bin_location: bin_location_id } = await shop.run("bin_location_create", {
    ...{ warehouse_id: scene.warehouse, code: `bin-${n}`, position: n },
  });
  await shop.run("bin_location_update", { id: bin_location_id, position: n + 1 });
  const [bin, house] = [{ bin_location_id }, { warehouse_id: scene.warehouse }];
  await shop.run("stock_adjust", { lines: [{ product_id, place: bin, delta: 100 }] });
  await shop.run("stock_adjust", { lines: [{ product_id, place: bin, delta: 10 }] });
  const lines = [
    { product_id, place: house, delta: 7 },
    { product_id: other, place: bin, delta: 8 },
  ];
  await shop.run("stock_adjust", { lines, comment: "two" });
  await shop.run("stock_set", { lines: [{ product_id, place: bin, quantity: 90, expected_quantity: 110 }] });
  await shop.run("stock_set", {
    lines: lines.map(({ delta: quantity, ...line }) => ({ ...line, quantity: quantity + 9 })),
  });
  const move = { product_id, source: bin, destination: house, quantity: 3 };
  await shop.run("stock_transfer", { lines: [move] });
  await shop.run("stock_transfer", { lines: [move, { ...move, product_id: other }] });
  await bookBatch(shop, batched, n, bin);
  await bookTogether(shop, scene, n, { ...move, other, bin });
  const configured = { product_id, warehouse_id: scene.warehouse, default_bin_location_id: bin_location_id };
  for (const reorder_point of [3, 4])
    await shop.run("product_warehouse_configuration_set", { ...configured, reorder_point });
}

async function bookBatch(shop: GrowingShop, batched: string, n: number, bin: object): Promise<void> {
  const batch = await shop.ask(
    "insert into erp.batch (product_id, number) values ($1, $2) returning id",
    ...[batched, `lot-${n}`],
  );
  await shop.run("stock_adjust", { lines: [{ product_id: batched, place: bin, delta: 5, batch_id: batch }] });
  await shop.run("stock_set", { lines: [{ product_id: batched, place: bin, quantity: 4, batch_id: batch }] });
}

async function bookTogether(
  shop: GrowingShop,
  { credential }: Scene,
  n: number,
  {
    other,
    bin,
    ...move
  }: { other: string; bin: object; product_id: string; source: object; destination: object },
): Promise<void> {
  const call = (nth: number, operation: string, line: object) => ({
    ...{
      version: "api_unstable",
      operation,
      key: nth === 2 ? null : `together ${n} ${nth}`,
      request_id: "together",
    },
    ...{ credential_id: credential, scopes: "stocks:write", input: { lines: [line] } },
  });
  const [{ answers }] = await shop.counted(
    ...(["run_together", "service_api", "select mutation.run_together($1) as answers"] as const),
    [
      JSON.stringify([
        call(0, "stock_adjust", { product_id: move.product_id, place: bin, delta: 1 }),
        call(1, "stock_adjust", { product_id: other, place: bin, delta: 2 }),
        call(2, "stock_transfer", { ...move, quantity: 1 }),
      ]),
    ],
  );
  if (answers.includes(null)) throw new Error(`run_together: ${JSON.stringify(answers)}`);
}

/** Orders on their way out. */
export async function ship(shop: GrowingShop, scene: Scene, n: number): Promise<void> {
  const order = (of: string) =>
    shop.ask("select id from erp.sales_order where order_number = $1", `${of}-${n}`);
  const documents = ["delivery_note", "invoice"];
  await shop.run("order_shipment_complete", {
    order_id: await order("ship"),
    documents,
    tracking_codes: [`T-${n}`],
  });
  const order_id = await order("fulfil");
  const assign = async (quantity: number) => {
    const line = await shop.ask(
      "select id from erp.sales_order_line_item where order_id = $1 and identifier = '3'",
      order_id,
    );
    const lines = [{ order_line_item_id: line, quantity }];
    return (await shop.run("fulfillment_order_create", { order_id, warehouse_id: scene.warehouse, lines }))
      .fulfillment_order;
  };
  const id = await assign(2);
  for (const step of ["start", "hold", "release_hold"]) await shop.run(`fulfillment_order_${step}`, { id });
  const { fulfillment } = await shop.run("fulfillment_create", {
    ...{ fulfillment_order_id: id, tracking_codes: [`U-${n}`] },
  });
  await shop.run("fulfillment_cancel", { id: fulfillment });
  await shop.run("fulfillment_order_cancel", { id: await assign(1) });
  await shop.run("order_cancel", { id: await order("cancel") });
}

/** Goods on their way in. */
export async function receive(shop: GrowingShop, scene: Scene, n: number): Promise<void> {
  const product_id = await shop.ask("select id from erp.product where product_number = $1", `plain-${n}`);
  const supplier_id = await shop.ask("select id from erp.supplier where number = $1", `s-${n}`);
  const prices = [{ currency_id: scene.currency, net: 4, gross: 5 }];
  const { product_supplier_configuration: configuration } = await shop.run(
    "product_supplier_configuration_create",
    {
      ...{
        product_id,
        supplier_id,
        min_purchase: 1,
        purchase_prices: prices,
        supplier_is_default: n % 2 === 0,
      },
    },
  );
  await shop.run("product_supplier_configuration_update", { id: configuration, min_purchase: 2 });
  await shop.run("product_supplier_configuration_set_default", { id: configuration });
  const spare = await shop.ask("select id from erp.product where product_number = $1", `other-${n}`);
  const more = await shop.run("product_supplier_configuration_create", { product_id: spare, supplier_id });
  await shop.run("product_supplier_configuration_delete", { id: more.product_supplier_configuration });
  await purchase(shop, scene, n, product_id, supplier_id);
  const { bin_location } = await shop.run("bin_location_create", {
    warehouse_id: scene.warehouse,
    code: `gone-${n}`,
  });
  await shop.run("bin_location_delete", { id: bin_location });
}

async function purchase(
  shop: GrowingShop,
  scene: Scene,
  n: number,
  product_id: string,
  supplier_id: string,
): Promise<void> {
  const line_items = [4, 5].map((quantity) => ({ product_id, quantity, unit_price: 2 }));
  const order = async () =>
    (await shop.run("supplier_order_create", { supplier_id, warehouse_id: scene.warehouse, line_items }))
      .supplier_order;
  const id = await order();
  await shop.run("supplier_order_update", { id, comment: `Order ${n}` });
  await shop.run("supplier_order_line_items_set", {
    id,
    line_items: [{ product_id, quantity: 6, unit_price: 2 }],
  });
  await shop.run("supplier_order_send", { id });
  await shop.run("supplier_order_confirm", { id });
  const { goods_receipt } = await shop.run("goods_receipt_create", {
    ...{
      supplier_order_ids: [id],
      warehouse_id: scene.warehouse,
      line_items: [{ product_id, quantity: 4, supplier_order_id: id }],
    },
  });
  await shop.run("goods_receipt_update", { id: goods_receipt, comment: `Receipt ${n}` });
  await shop.run("goods_receipt_line_items_set", {
    ...{ id: goods_receipt, line_items: [{ product_id, quantity: 5, supplier_order_id: id }] },
  });
  await shop.run("goods_receipt_approve", { id: goods_receipt });
  await shop.run("goods_receipt_start", { id: goods_receipt });
  const line = await shop.ask(
    "select id from erp.goods_receipt_line_item where goods_receipt_id = $1",
    goods_receipt,
  );
  const bin = await shop.ask("select id from erp.bin_location where code = $1", `bin-${n}`);
  const put_away = [{ goods_receipt_line_item_id: line, place: { bin_location_id: bin }, quantity: 5 }];
  await shop.run("goods_receipt_complete", { id: goods_receipt, put_away });
  await shop.run("supplier_order_complete", { id });
  const draft = (
    await shop.run("goods_receipt_create", {
      is_draft: true,
      supplier_id,
      line_items: [{ product_id, quantity: 1 }],
    })
  ).goods_receipt;
  await shop.run("goods_receipt_delete", { id: draft });
  const cancelled = await order();
  await shop.run("supplier_order_confirm", { id: cancelled });
  await shop.run("supplier_order_cancel", { id: cancelled });
  await shop.run("supplier_order_delete", { id: await order() });
}
