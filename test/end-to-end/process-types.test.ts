import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { assertProof } from "../lib/proof.ts";
import type { ReturnShop } from "../lib/return-shop.ts";
import { openReturnShop } from "../lib/return-shop.ts";
import { Stocktakes } from "../lib/stocktakes.ts";

// docs/reference/processes.md lists each location type and each process with the call that reaches it. Each call does so here.

const page = readFileSync(new URL("../../docs/reference/processes.md", import.meta.url), "utf8");

/** The names in the first column of a table, with the calls in the column after the next. */
function rowsOf(heading: string): [name: string, call: string][] {
  const section = page.split(`## ${heading}\n`)[1]!.split("\n## ")[0]!;
  return [...section.matchAll(/^\| `(\w+)` +\|[^|]*\| `(\w+)`/gm)].map(([, name, call]) => [name!, call!]);
}

let shop: ReturnShop;
let stocktakes: Stocktakes;
/** Mutations since the beginning of a case. */
let calls: string[] = [];
before(async () => {
  shop = await openReturnShop();
  stocktakes = await Stocktakes.open(shop);
  await shop.owner.query(
    "insert into erp.number_range (technical_name, pattern) values ('stocktake', 'ST-{n}') on conflict do nothing",
  );
  await shop.store("nail", "A-1", 500);
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

const call = async (name: string, input: object, select = "") => {
  calls.push(name);
  const payload = await shop.mutate(name, input, { select });
  assert.deepEqual(payload.userErrors, [], name);
  return payload;
};
const adjust = (delta: number, more = {}, place = "A-1") =>
  call("stockAdjust", { lines: [shop.line("nail", place, { delta })], ...more });
const transfer = (more = {}) =>
  call("stockTransfer", { lines: [shop.move("nail", "A-1", "A-2", { quantity: 1 })], ...more });
const order = () => shop.order([{ product: "nail", quantity: 1 }], [{ lines: [[0, 1]] }]);
const ship = async (more = {}) => {
  const made = await order();
  await call("orderShipmentComplete", { orderId: made.id, ...more });
};
const fulfill = async (more = {}) => {
  const [part] = (await order()).fulfillmentOrders;
  const { fulfillment } = await call(
    "fulfillmentCreate",
    { fulfillmentOrderId: part!.id, ...more },
    "fulfillment { id }",
  );
  return fulfillment.id;
};
const receive = async (more: object, line: object) => {
  const { goodsReceipt } = await call(
    "goodsReceiptCreate",
    { lineItems: [{ productId: shop.id.nail, quantity: 1, ...line }], ...more },
    "goodsReceipt { id }",
  );
  await call("goodsReceiptApprove", { id: goodsReceipt.id });
  await call("goodsReceiptComplete", { id: goodsReceipt.id });
};
const takeBack = async () => {
  const shipped = await shop.shipped([{ product: "nail", quantity: 1 }]);
  const { lines } = await shop.request([[shipped.lines[0]!, 1]]);
  await receive({}, { returnOrderLineItemId: lines[0]!.id });
};
const count = async () => {
  const id = await stocktakes.make({ binLocationIds: [shop.id["A-2"]] });
  const [sheet] = await stocktakes.sheets(id);
  const lines = [stocktakes.line("A-2", "nail", 99)];
  const counted = await stocktakes.submit(sheet!.id, "Ada", lines, { isComplete: true });
  assert.deepEqual(counted.userErrors, []);
  await call("stocktakeApprove", { id }, "stocktake { state }");
};
const file = (row: object) =>
  call(
    "stocksUpsert",
    { stocks: [{ productNumber: "nail", warehouseCode: "hall", ...row }] },
    "results { outcome }",
  );

const processes: Record<string, () => Promise<unknown>> = {
  supplier_order: () => receive({ type: "Supplier", supplierId: shop.id.acme }, {}),
  free_goods_receipt: () => receive({}, {}),
  return_order: takeBack,
  cancelled_fulfillment: async () => call("fulfillmentCancel", { id: await fulfill() }),
  shipping: () => fulfill({ processType: "shipping" }),
  shipped_automatically: () => ship({ processType: "shipped_automatically" }),
  api_shipping: () => ship(),
  relocation: () => transfer({ processType: "relocation" }),
  api_relocation: () => transfer(),
  incoming: () => adjust(1, { processType: "incoming" }),
  outgoing: () => adjust(-1, { processType: "outgoing" }),
  api_incoming: () => adjust(1),
  api_outgoing: () => adjust(-1),
  stocktaking: count,
  api: () => call("stockSet", { lines: [shop.line("nail", "A-1", { quantity: 300 })] }),
  csv_import_incoming: () => file({ delta: 2, reference: "row 1" }),
  csv_import_outgoing: () => file({ delta: -2, reference: "row 2" }),
};
/** Places that come with another part of the issue; empty once that is merged. */
const missing: string[] = [];
const places: Record<string, () => Promise<unknown>> = {
  warehouse: () => adjust(1, {}, "shed"),
  bin_location: () => transfer(),
  async stock_container() {
    const { stockContainer } = await call(
      "stockContainerCreate",
      { warehouseId: shop.id.hall, number: "TOTE-1", kind: "tote" },
      "stockContainer { id }",
    );
    const line = shop.move("nail", "A-1", "A-2", { quantity: 1 });
    await call("stockTransfer", {
      lines: [{ ...line, destination: { stockContainerId: stockContainer.id } }],
    });
  },
  goods_receipt: () => receive({}, {}),
  return_order: takeBack,
  order: () => ship(),
  special_stock_location: () => adjust(-1),
};

/** Movements by process, and arrivals by location type, as the API shows them. */
const seen = async (): Promise<Record<string, number>> => {
  const { stockMovements } = await shop.read(`{ stockMovements(first: 250, orderBy: ID_DESC) { edges { node {
    processTypeTechnicalName destinationLocationTypeTechnicalName } } } }`);
  const counted: Record<string, number> = {};
  for (const { node } of stockMovements.edges)
    for (const name of [
      `process ${node.processTypeTechnicalName}`,
      `place ${node.destinationLocationTypeTechnicalName}`,
    ])
      counted[name] = (counted[name] ?? 0) + 1;
  return counted;
};

for (const [kind, heading, cases] of [
  ["place", "Location types", places],
  ["process", "Process types", processes],
] as const)
  describe(heading, () => {
    const rows = rowsOf(heading);

    it("are those that the specification knows, each with a call", async () => {
      const known = await shop.sql(
        kind === "place"
          ? `select (regexp_matches(pg_get_constraintdef(oid), '''(\\w+)''', 'g'))[1] as name
             from pg_constraint where conname = 'stock_location_type_is_known'`
          : "select technical_name as name from ledger.process_type",
      );
      assert.deepEqual(rows.map(([name]) => name).sort(), known.map(({ name }) => name).sort());
      assert.equal(rows.length, kind === "place" ? 7 : 17);
    });

    for (const [name, documented] of rows.filter(([name]) => !missing.includes(name)))
      it(`${name} is reached by ${documented}`, async () => {
        calls = [];
        const earlier = (await seen())[`${kind} ${name}`] ?? 0;
        await cases[name]!();
        assert.ok(calls.includes(documented), `${documented} wasn't called`);
        assert.ok(((await seen())[`${kind} ${name}`] ?? 0) > earlier, `no movement is of ${name}`);
      });
  });
