import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";
import { Stocktakes } from "../lib/stocktakes.ts";

// A tote stands in the bin A-1, a pallet outside of bins; a box was picked for a fulfillment order.
let shop: Shop;
let takes: Stocktakes;
before(async () => {
  shop = await openShop();
  takes = await Stocktakes.open(shop);
  const { rows } = await shop.owner.query(`
    with f as (
      insert into erp.fulfillment_order (number, source_warehouse_location_id, type, state)
      select 'FO-1', l.id, 'WarehouseLocationToOrder', 'Open' from erp.location l join erp.warehouse w on w.id = l.warehouse_id where w.code = 'hall'
      returning id)
    insert into erp.stock_container (number, warehouse_id, bin_location_id, fulfillment_order_id)
    select v.number, w.id, b.id, (select id from f where v.number = 'box')
    from (values ('tote', 'A-1'), ('pallet', null), ('box', 'A-1')) v (number, bin)
    join erp.warehouse w on w.code = 'hall' left join erp.bin_location b on b.code = v.bin
    returning number, id`);
  for (const { number, id } of rows) shop.id[number] = `gid://service/StockContainer/${id}`;
});
after(() => shop.close());
beforeEach(async () => {
  await shop.emptyTables("erp.stocktake");
  await shop.empty();
  await shop.owner.query("update erp.stock_container set fulfillment_order_id = null");
  await shop.mutate("stockSet", {
    lines: [
      shop.line("hammer", "A-1", { quantity: 10 }),
      shop.line("nail", "tote", { quantity: 5 }),
      shop.line("hammer", "pallet", { quantity: 4 }),
      shop.line("nail", "box", { quantity: 3 }),
    ],
  });
  await shop.owner
    .query(`update erp.stock_container set fulfillment_order_id = (select id from erp.fulfillment_order)
    where number = 'box'`);
});

/** Positions of a stocktake: the product and the container, bin or warehouse. */
const positions = async (id: string) => {
  const query = `query ($id: ID!) { stocktake(id: $id) { lines { edges { node { expectedQuantity state bookedDifference
    product { productNumber } stockContainer { number } binLocation { code } warehouse { code } } } } } }`;
  const { body } = await shop.ask(takes.manager, { query, variables: { id } });
  return body.data.stocktake.lines.edges.map(({ node }: any) => [
    node.product.productNumber,
    node.stockContainer?.number ?? node.binLocation?.code ?? node.warehouse.code,
    node.expectedQuantity,
    node.bookedDifference,
  ]);
};

it("a stocktake of a bin counts its containers, but not what is picked", async () => {
  const id = await takes.make({ binLocationIds: [shop.id["A-1"]] });
  assert.deepEqual(await positions(id), [
    ["hammer", "A-1", 10, null],
    ["nail", "tote", 5, null],
  ]);
  const [sheet] = await takes.sheets(id);
  const place = { stockContainerId: shop.id.tote };
  const found = [
    takes.line("A-1", "hammer", 10),
    { place, productId: shop.id.nail, quantity: 7 },
    // Nobody expected it there
    { place, productId: shop.id.hammer, quantity: 1 },
  ];
  for (const [container, code] of [
    ["box", "PICKED_FOR_ORDER"],
    ["pallet", "OUT_OF_SCOPE"],
  ] as const) {
    const line = {
      place: { stockContainerId: shop.id[container] },
      productId: shop.id.glue,
      quantity: 1,
      batchId: shop.id.G1,
    };
    assert.deepEqual(refusals(await takes.submit(sheet!.id, "Ada", [line])), [[code, "lines.0.place"]]);
  }
  const two = { place: { ...place, binLocationId: shop.id["A-1"] }, productId: shop.id.nail, quantity: 1 };
  assert.deepEqual(refusals(await takes.submit(sheet!.id, "Ada", [two])), [["INVALID", "lines.0.place"]]);
  assert.deepEqual((await takes.submit(sheet!.id, "Ada", found, { isComplete: true })).userErrors, []);
  const approved = await takes.approve(id, { approverName: "Bob" });
  assert.deepEqual(approved.userErrors, []);
  assert.deepEqual(await positions(id), [
    ["hammer", "A-1", 10, 0],
    ["nail", "tote", 5, 2],
    ["hammer", "tote", 0, 1],
  ]);
  await assertLedgerIsRight(shop);
});

it("a stocktake of a warehouse counts all containers but those that are picked", async () => {
  const id = await takes.make();
  assert.deepEqual(await positions(id), [
    ["hammer", "A-1", 10, null],
    ["nail", "tote", 5, null],
    ["hammer", "pallet", 4, null],
  ]);
});
