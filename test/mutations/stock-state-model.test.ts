import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import { seed } from "../lib/seed.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";

// Random work in a small shop, over HTTP and by SQL: units come, move and go, bins and batches change their state, days end. After
// each step the figures must be what a plain count of all units gives. The model knows where each unit lies, and nothing of the
// service's own figures but what is reserved.

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ poolSize: 20 });
  await shop.sql("insert into erp.merchant (time_zone) values ('Etc/GMT+12')");
  const containers = await shop.sql(
    `insert into erp.stock_container (number, warehouse_id) select v.number, w.id
     from (values ('tote', 'hall'), ('pallet', 'hall'), ('box', 'returns')) v (number, warehouse)
     join erp.warehouse w on w.code = v.warehouse returning number, id`,
  );
  for (const { number, id } of containers) shop.id[number] = `gid://service/StockContainer/${id}`;
});
after(() => shop.close());

let state = seed;
/** A whole number below the bound (xorshift). */
function below(bound: number): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % bound;
}
const one = <T>(list: readonly T[]): T => list[below(list.length)]!;

/** Places by the warehouse that they belong to. */
const buildings: Record<string, string[]> = {
  hall: ["hall", "A-1", "A-2", "C-1", "C-2", "tote", "pallet"],
  shed: ["shed", "B-1"],
  returns: ["returns", "R-1", "box"],
};
const places = Object.values(buildings).flat();
const bins = places.filter((place) => place.includes("-"));
/** The bins that containers stand in, if any. */
const standsIn = new Map<string, string | null>([
  ["tote", null],
  ["pallet", null],
  ["box", null],
]);
/** Between these two it is never the same day. */
const timeZones = ["Etc/GMT+12", "Pacific/Kiritimati"];

const isSellable = new Map<string, boolean>(bins.map((bin) => [bin, true]));
const sells = new Map([
  ["hall", true],
  ["shed", true],
  ["returns", false],
]);
interface Batch {
  product: string;
  isHeld: boolean;
  date: string | null;
  isExpired: boolean;
}
const batches = new Map<string, Batch>();
/** Products, and their safety stock by warehouse. */
const products = new Map<string, Map<string, number>>();
/** Units by product, place and batch. */
const units = new Map<string, number>();
let timeZone = timeZones[0]!;

const key = (product: string, place: string, batch: string | null) => `${product} ${place} ${batch ?? ""}`;
const at = (product: string, place: string, batch: string | null) =>
  units.get(key(product, place, batch)) ?? 0;
const add = (product: string, place: string, batch: string | null, change: number) =>
  void units.set(key(product, place, batch), at(product, place, batch) + change);
const today = () => new Intl.DateTimeFormat("sv-SE", { timeZone }).format(new Date());
const dayFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const isPast = (date: string | null) => date !== null && date < today();
/** Batches of a product, or null for a product without. */
const lotsOf = (product: string): (string | null)[] => {
  const lots = [...batches].filter(([, batch]) => batch.product === product).map(([name]) => name);
  return lots.length > 0 ? lots : [null];
};

let made = 0;
async function addProduct(): Promise<void> {
  const product = `p${++made}`;
  const isBatched = made % 3 > 0;
  const [row] = await shop.sql(
    `with p as (insert into erp.product (product_number, is_batch_managed) values ('${product}', ${isBatched}) returning id),
     b as (insert into erp.batch (product_id, number) select p.id, '${product}b' || n from p, generate_series(1, ${isBatched ? 3 : 0}) n
       returning id, number)
     select (select id from p) as id, (select json_object_agg(number, id) from b) as batches`,
  );
  shop.id[product] = `gid://service/Product/${row.id}`;
  products.set(product, new Map());
  for (const [number, id] of Object.entries(row.batches ?? {})) {
    shop.id[number] = `gid://service/Batch/${id}`;
    batches.set(number, { product, isHeld: false, date: null, isExpired: false });
  }
}
async function deleteProduct(): Promise<void> {
  if (products.size < 4) return;
  const product = one([...products.keys()]);
  await shop.sql("delete from erp.sales_order_line_item where product_id = $1", shop.id[product]!);
  await shop.sql("delete from erp.product where id = $1", shop.id[product]!);
  products.delete(product);
  for (const lot of lotsOf(product)) if (lot !== null) batches.delete(lot);
  for (const place of units.keys()) if (place.startsWith(`${product} `)) units.delete(place);
  await addProduct();
}

const call = async (name: string, input: object, more = {}) => {
  const payload = await shop.mutate(name, input, more);
  assert.deepEqual(payload.userErrors, [], `${name} ${JSON.stringify(input)}`);
  return payload;
};
const batchId = (batch: string | null) => (batch === null ? {} : { batchId: shop.id[batch] });

/** Lines that a booking may have: units that come, and some of those that are there. */
function someUnits(count: number): [product: string, place: string, batch: string | null, delta: number][] {
  return Array.from({ length: count }, () => {
    const product = one([...products.keys()]);
    const [place, batch] = [one(places), one(lotsOf(product))];
    const there = at(product, place, batch);
    const delta = there > 0 && below(2) === 0 ? -1 - below(there) : 1 + below(9);
    add(product, place, batch, delta);
    return [product, place, batch, delta];
  });
}
const adjust = async () => {
  const lines = someUnits(1 + below(4));
  await call("stockAdjust", {
    lines: lines.map(([product, place, batch, delta]) =>
      shop.line(product, place, { delta, ...batchId(batch) }),
    ),
  });
};
/** Single lines that come at once, so that some are booked together. */
const together = async () => {
  const lines = someUnits(8);
  // Those that take units come later: they must not come before those that bring them
  for (const sign of [1, -1])
    await Promise.all(
      lines
        .filter(([, , , delta]) => Math.sign(delta) === sign)
        .map(([product, place, batch, delta]) =>
          call("stockAdjust", { lines: [shop.line(product, place, { delta, ...batchId(batch) })] }),
        ),
    );
};
const set = async () => {
  const product = one([...products.keys()]);
  const [place, batch, quantity] = [one(places), one(lotsOf(product)), below(12)];
  units.set(key(product, place, batch), quantity);
  await call("stockSet", { lines: [shop.line(product, place, { quantity, ...batchId(batch) })] });
};
const transfer = async () => {
  const full = [...units].filter(([, quantity]) => quantity > 0);
  if (full.length === 0) return;
  const [from, there] = one(full);
  const [product, source, lot] = from.split(" ") as [string, string, string];
  const destination = one(places.filter((place) => place !== source));
  const [batch, quantity] = [lot === "" ? null : lot, 1 + below(there)];
  add(product, source, batch, -quantity);
  add(product, destination, batch, quantity);
  await call("stockTransfer", {
    lines: [shop.move(product, source, destination, { quantity, ...batchId(batch) })],
  });
};
/** Movements that a person inserts, with their batches in the same statement or in the next one. */
const insertBySql = async () => {
  const product = one([...products.keys()]);
  const [place, batch, quantity] = [one(places), one(lotsOf(product)), 1 + below(5)];
  const kind = standsIn.has(place) ? "stock_container" : place.includes("-") ? "bin_location" : "warehouse";
  add(product, place, batch, quantity);
  const [movement] = await shop.sql(
    `insert into ledger.stock_movement (product_id, quantity, process_type_technical_name, source_location_type_technical_name,
       source_special_stock_location_technical_name, destination_location_type_technical_name, destination_${kind}_id)
     values ($1, ${quantity}, 'incoming', 'special_stock_location', 'import', '${kind}', $2) returning id`,
    shop.id[product]!,
    shop.id[place]!,
  );
  if (batch !== null)
    await shop.owner.query(
      "insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity) values ($1, $2, $3)",
      [movement.id, uuidOf(shop.id[batch]!), quantity],
    );
};
const turnBin = async () => {
  const bin = one(bins);
  const stockState = one(["sellable", "quality_control", "damaged"]);
  isSellable.set(bin, stockState === "sellable");
  await call("binLocationUpdate", { id: shop.id[bin], stockState });
};
/** By the API, or by SQL: to a bin of its warehouse, or outside of bins. */
const moveContainer = async () => {
  const container = one([...standsIn.keys()]);
  const [warehouse, near] = Object.entries(buildings).find(([, places]) => places.includes(container))!;
  const bin = one([null, ...near.filter((place) => place.includes("-"))]);
  standsIn.set(container, bin);
  if (below(2) === 0) {
    const place = bin === null ? { warehouseId: shop.id[warehouse] } : { binLocationId: shop.id[bin] };
    const select = "stockContainer { id }";
    await call("stockContainerMove", { id: shop.id[container], ...place }, { select });
  } else
    await shop.owner.query("update erp.stock_container set bin_location_id = $1 where number = $2", [
      bin && uuidOf(shop.id[bin]!),
      container,
    ]);
};
const turnBatch = async () => {
  const [name, batch] = one([...batches]);
  batch.isHeld = !batch.isHeld;
  const stockState = one(["quality_control", "damaged"]);
  if (batch.isHeld) await call("batchHold", { ids: [shop.id[name]], stockState });
  else await call("batchRelease", { ids: [shop.id[name]] });
};
const date = async () => {
  const [name, batch] = one([...batches]);
  batch.date = one([null, dayFromNow(below(5) - 2)]);
  batch.isExpired = isPast(batch.date);
  if (below(2) === 0) await call("batchUpdate", { id: shop.id[name], bestBeforeDate: batch.date });
  else
    await shop.owner.query("update erp.batch set best_before_date = $2 where id = $1", [
      uuidOf(shop.id[name]!),
      batch.date,
    ]);
};
/** A day ends, or begins again. Nothing is different until the job has run. */
const endDay = async () => {
  timeZone = timeZones[1 - timeZones.indexOf(timeZone)]!;
  await shop.sql(`update erp.merchant set time_zone = '${timeZone}'`);
  await compare();
  for (let marked = 1; marked > 0;)
    [{ marked }] = (await shop.owner.query("select erp.expire_batches(2) as marked")).rows;
  for (const batch of batches.values()) batch.isExpired = isPast(batch.date);
};
const turnWarehouse = async () => {
  const warehouse = one([...sells.keys()]);
  sells.set(warehouse, !sells.get(warehouse)!);
  await call("warehouseUpdate", {
    id: shop.id[warehouse],
    isStockAvailableForSale: sells.get(warehouse),
  });
};
const keepBack = async () => {
  const [product, safety] = one([...products]);
  const warehouse = one([...sells.keys()]);
  const safetyStock = below(3) * 5;
  safety.set(warehouse, safetyStock);
  const row = { productId: shop.id[product], warehouseId: shop.id[warehouse] };
  if (safetyStock > 0 || below(2) === 0)
    await call("productWarehouseConfigurationSet", { ...row, safetyStock });
  else
    await shop.sql(
      "delete from erp.product_warehouse_configuration where product_id = $1 and warehouse_id = $2",
      row.productId!,
      row.warehouseId!,
    );
};
/** Whether a unit that lies there may be sold. */
const mayBeSold = (place: string, batch: string | null) =>
  isSellable.get(standsIn.get(place) ?? place) !== false &&
  (batch === null || !(batches.get(batch)!.isHeld || batches.get(batch)!.isExpired));
/** Only what may be sold is shipped, as far as there is enough. */
const ship = async () => {
  const product = one([...products.keys()]);
  const spots = buildings.hall!.flatMap((place) => lotsOf(product).map((batch) => [place, batch] as const));
  const free = spots.filter(([place, batch]) => mayBeSold(place, batch) && at(product, place, batch) > 0);
  const there = free.reduce((sum, [place, batch]) => sum + at(product, place, batch), 0);
  const quantity = 1 + below(there + 3);
  const order = await shop.order([{ product, quantity }], [{ lines: [[0, quantity]] }]);
  const payload = await shop.fulfill(order.fulfillmentOrders[0]!);
  const codes = payload.userErrors.map(({ code }: any) => code);
  assert.deepEqual(codes, quantity > there ? ["INSUFFICIENT_STOCK"] : [], JSON.stringify(payload));
  if (quantity > there) return;
  const taken = await shop.owner.query(
    `select coalesce(b.code, w.code, c.number) as place, t.number as batch, coalesce(mb.quantity, m.quantity) as quantity
     from ledger.stock_movement m left join erp.bin_location b on b.id = m.source_bin_location_id
     left join erp.warehouse w on w.id = m.source_warehouse_id
     left join erp.stock_container c on c.id = m.source_stock_container_id
     left join ledger.stock_movement_batch mb on mb.stock_movement_id = m.id left join erp.batch t on t.id = mb.batch_id
     where m.id = any ($1)`,
    [payload.stockMovements.map(({ id }: any) => uuidOf(id))],
  );
  for (const { place, batch, quantity: units } of taken.rows) {
    assert.ok(mayBeSold(place, batch), `${place} ${batch}`);
    add(product, place, batch, -units);
  }
};
const receive = async () => {
  const plain = [...products.keys()].filter((name) => lotsOf(name)[0] === null);
  if (plain.length === 0) return;
  const product = one(plain);
  const [bin, quantity] = [one(["A-1", "A-2", "C-1"]), 1 + below(6)];
  const lineItems = [{ productId: shop.id[product], quantity, destinationBinLocationId: shop.id[bin] }];
  const input = { supplierId: shop.id.acme, warehouseId: shop.id.hall, lineItems };
  const { goodsReceipt } = await call("goodsReceiptCreate", input, { select: "goodsReceipt { id }" });
  await call("goodsReceiptApprove", { id: goodsReceipt.id });
  await compare();
  await call("goodsReceiptComplete", { id: goodsReceipt.id });
  add(product, bin, null, quantity);
};

/** What is left of units when some are kept back, which does not make them fewer than none. */
const lessSafety = (free: number, safety: number) => (free > safety ? free - safety : Math.min(free, 0));

async function compare(): Promise<void> {
  for (const [product, safety] of products) {
    const { product: shown } = await shop.read(
      `query ($id: ID!) { product(id: $id) { physicalStock stockNotAvailableForSale reservedStock safetyStock availableStock
         warehouseStocks { edges { node { quantity reservedQuantity heldQuantity safetyStock availableQuantity warehouse { code } } } } } }`,
      { id: shop.id[product] },
    );
    const nodes = new Map<string, any>(
      shown.warehouseStocks.edges.map(({ node }: any) => [node.warehouse.code, node]),
    );
    const total = { physical: 0, notForSale: 0, safety: 0 };
    for (const [warehouse, itsPlaces] of Object.entries(buildings)) {
      const spots = itsPlaces.flatMap((place) => lotsOf(product).map((batch) => [place, batch] as const));
      const quantity = spots.reduce((sum, [place, batch]) => sum + at(product, place, batch), 0);
      const held = spots
        .filter(([place, batch]) => !mayBeSold(place, batch))
        .reduce((sum, [place, batch]) => sum + at(product, place, batch), 0);
      const safetyStock = safety.get(warehouse) ?? 0;
      const node = nodes.get(warehouse);
      const reserved = node?.reservedQuantity ?? 0;
      assert.deepEqual(
        [node?.quantity ?? 0, node?.heldQuantity ?? 0, node?.safetyStock ?? 0, node?.availableQuantity ?? 0],
        [quantity, held, safetyStock, lessSafety(quantity - held - reserved, safetyStock)],
        `${product} in ${warehouse}`,
      );
      total.physical += quantity;
      total.notForSale += sells.get(warehouse)! ? held : quantity;
      total.safety += sells.get(warehouse)! ? safetyStock : 0;
    }
    const { physicalStock, stockNotAvailableForSale, safetyStock, availableStock, reservedStock } = shown;
    assert.deepEqual(
      [physicalStock, stockNotAvailableForSale, safetyStock, availableStock],
      [
        total.physical,
        total.notForSale,
        total.safety,
        lessSafety(total.physical - total.notForSale - reservedStock, total.safety),
      ],
      product,
    );
  }
}

const steps = {
  ...{
    adjust,
    together,
    set,
    transfer,
    insertBySql,
    turnBin,
    turnBatch,
    date,
    endDay,
    turnWarehouse,
    moveContainer,
  },
  ...{ keepBack, ship, receive, deleteProduct },
};

test(`availability is what a plain count of units gives, seed ${seed}`, async () => {
  for (let n = 0; n < 5; n++) await addProduct();
  for (let n = 0; n < 3; n++) await together();
  const names = Object.keys(steps) as (keyof typeof steps)[];
  const done: string[] = [];
  const count = Number(process.env.STEPS ?? 140);
  for (let n = 0; n < count; n++) {
    // Each kind of step comes, and then any
    const name = n < names.length ? names[n]! : one([...names, "transfer" as const, "turnBin" as const]);
    done.push(name);
    try {
      await steps[name]();
      await compare();
    } catch (error) {
      throw new Error(`after ${done.slice(-12).join(", ")}`, { cause: error });
    }
    if (n % 10 === 0) await assertLedgerIsRight(shop);
  }
  await assertLedgerIsRight(shop);
});
