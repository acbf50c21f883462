import assert from "node:assert/strict";
import { after, afterEach, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { uuidOf } from "../lib/ids.ts";
import { until } from "../lib/until.ts";
import { useContainers } from "./containers.ts";

// A container moves beside what changes the same figures, in both orders, and by two processes.

let other: pg.Client | undefined;
// Before the shop is closed, which ends its connections
after(() => other?.end());
const { used, at, send, pack, move, tote, figures } = useContainers();

let id: string;
beforeEach(async () => {
  if (other === undefined) {
    other = new pg.Client({ connectionString: used.shop.adminUrl });
    await other.connect();
  }
  await used.shop.sql("update erp.bin_location set stock_state = 'damaged' where code = 'C-1'");
  id = await tote({ binLocationId: used.shop.id["A-1"] });
  await pack("nail", id, 100);
  await pack("nail", "A-1", 50);
  await pack("glue", id, 10, "G1");
});
afterEach(() => other!.query("rollback"));

const mutate = (name: string, input: object, options: object = {}) => used.shop.mutate(name, input, options);
/** Waits until so many statements wait for a lock. */
const areWaiting = (count: number) =>
  until(async () => {
    const { rowCount } = await used.shop.owner.query(
      `select from pg_locks l join pg_stat_activity a using (pid)
       where not l.granted and a.datname = current_database()`,
    );
    return rowCount! >= count;
  });
type Work = () => Promise<{ userErrors: unknown[] }>;
/** Runs two calls in this order while the product is locked, which the first one waits for. */
async function inOrder(first: Work, second: Work) {
  await other!.query("begin");
  await other!.query("select from erp.product where id = $1 for update", [uuidOf(used.shop.id.nail!)]);
  const one = first();
  await areWaiting(1);
  const two = second();
  await areWaiting(2);
  await other!.query("commit");
  for (const { userErrors } of await Promise.all([one, two])) assert.deepEqual(userErrors, []);
}

const away: Work = () => move(id, at("C-1"));
const turn = (bin: string, stockState: string, options: object = {}) =>
  mutate(
    "binLocationUpdate",
    { id: used.shop.id[bin], stockState },
    { select: "binLocation { id }", ...options },
  );
const adjust = (place: string, delta: number): Promise<any> =>
  mutate("stockAdjust", { lines: [{ productId: used.shop.id.nail, place: at(place), delta }] });

describe("a container that moves to a damaged bin", () => {
  for (const [what, work, expected] of [
    ["units that come", () => adjust(id, 7), [157, 107, 157, 107, 50]],
    ["units that go", () => adjust(id, -7), [143, 93, 143, 93, 50]],
    [
      "a count",
      () => mutate("stockSet", { lines: [{ productId: used.shop.id.nail, place: at(id), quantity: 80 }] }),
      [130, 80, 130, 80, 50],
    ],
    ["units that are packed", () => send("nail", "A-1", id, 20), [150, 120, 150, 120, 30]],
    ["units that are taken out", () => send("nail", id, "A-1", 20), [150, 80, 150, 80, 70]],
    ["units that go to another warehouse", () => send("nail", id, "B-1", 20), [150, 80, 130, 80, 50]],
    ["its old bin, which is damaged, too", () => turn("A-1", "damaged"), [150, 150, 150, 150, 0]],
    [
      "a warehouse that stops to sell",
      () =>
        mutate(
          "warehouseUpdate",
          { id: used.shop.id.hall, isStockAvailableForSale: false },
          { select: "warehouse { id }" },
        ),
      [150, 150, 150, 100, 50],
    ],
  ] as [string, Work, number[]][])
    for (const isFirst of [true, false])
      it(`${isFirst ? "before" : "after"} ${what}`, async () => {
        await (isFirst ? inOrder(away, work) : inOrder(work, away));
        assert.deepEqual(await figures("nail"), expected);
        await used.shop.sql(
          "update erp.warehouse set is_stock_available_for_sale = true where code = 'hall'",
        );
      });

  it("before its new bin, which is sellable again", async () => {
    await inOrder(away, () => turn("C-1", "sellable"));
    assert.deepEqual(await figures("nail"), [150, 0, 150, 0, 150]);
  });

  it("before and after another move", async () => {
    await inOrder(away, () => move(id, at("A-2")));
    assert.deepEqual(await figures("nail"), [150, 0, 150, 0, 150]);
    await inOrder(() => move(id, at("A-1")), away);
    assert.deepEqual(await figures("nail"), [150, 100, 150, 100, 50]);
  });

  it("beside a batch that is held", async () => {
    const hold: Work = () =>
      mutate("batchHold", { ids: [used.shop.id.G1], reason: "x" }, { select: "batches { id }" });
    const answers = await Promise.all([away(), hold()]);
    for (const { userErrors } of answers) assert.deepEqual(userErrors, []);
    assert.deepEqual(await figures("glue"), [10, 10, 10, 10, 0]);
    await mutate("batchRelease", { ids: [used.shop.id.G1] }, { select: "batches { id }" });
  });
});

describe("an empty container", () => {
  const post = (destination: string) =>
    other!.query(
      `select ledger.post(array[row ('{}', $1, 30, null, 'bin_location', $2, 'stock_container', $3, 'api_relocation')::ledger.draft], null)`,
      [used.shop.id.nail!, used.shop.id["A-1"]!, destination].map(uuidOf),
    );

  it("that moves waits for a booking that puts the first units into it", async () => {
    const empty = await tote({ binLocationId: used.shop.id["A-2"] });
    await other!.query("begin");
    await post(empty);
    const moved = move(empty, at("C-1"));
    await areWaiting(1);
    await other!.query("commit");
    assert.deepEqual((await moved).userErrors, []);
    assert.deepEqual(await figures("nail"), [150, 30, 150, 30, 120]);
  });

  it("stays in its warehouse when the first units come meanwhile", async () => {
    const empty = await tote();
    await other!.query("begin");
    await post(empty);
    const moved = move(empty, at("shed"));
    await areWaiting(1);
    await other!.query("commit");
    assert.equal((await moved).userErrors[0].code, "NOT_EDITABLE");
  });

  it("whose move isn't committed yet lets a booking wait, which then counts by it", async () => {
    const empty = await tote({ binLocationId: used.shop.id["A-2"] });
    await other!.query("begin");
    await other!.query("update erp.stock_container set bin_location_id = $1 where id = $2", [
      uuidOf(used.shop.id["C-1"]!),
      uuidOf(empty),
    ]);
    const sent = send("nail", "A-1", empty, 10);
    await areWaiting(1);
    await other!.query("commit");
    assert.deepEqual((await sent).userErrors, []);
    assert.deepEqual(await figures("nail"), [150, 10, 150, 10, 140]);
  });

  it("that is picked for an order meanwhile takes no other units", async () => {
    const empty = await tote();
    const order = await used.shop.order(
      [{ product: "nail", quantity: 1 }],
      [{ location: "hall", lines: [[0, 1]] }],
    );
    await other!.query("begin");
    await other!.query("update erp.stock_container set fulfillment_order_id = $1 where id = $2", [
      uuidOf(order.fulfillmentOrders[0]!.id),
      uuidOf(empty),
    ]);
    const sent = send("nail", "A-1", empty, 10);
    await areWaiting(1);
    await other!.query("commit");
    assert.equal((await sent).userErrors[0].code, "PICKED_FOR_ORDER");
  });

  it("that is deleted waits for the booking, and is kept", async () => {
    const empty = await tote();
    await other!.query("begin");
    await post(empty);
    const removed = mutate("stockContainerDelete", { id: empty }, { select: "deletedStockContainerId" });
    await areWaiting(1);
    await other!.query("commit");
    assert.equal((await removed).userErrors[0].code, "WAREHOUSE_NOT_EMPTY");
  });
});

it("moves, bookings and states of bins by two processes at once leave the books right", async () => {
  const second = await used.shop.another({ poolSize: 10 });
  const containers = [id, await tote({ binLocationId: used.shop.id["A-2"] })];
  const bins = ["A-1", "A-2", "C-1", "C-2"];
  const answers = await Promise.all(
    Array.from({ length: 80 }, (_, n) => {
      const options = n % 2 === 0 ? { process: second } : {};
      const [one, bin] = [containers[n % 3 === 0 ? 0 : 1]!, bins[(n * 7) % 4]!];
      const state = n % 2 === 0 ? "damaged" : "sellable";
      const lines = [{ productId: used.shop.id.nail, place: at(one), delta: 1 }];
      return [
        () => move(one, at(bin), options),
        () => send("nail", "A-1", one, 1, options),
        () => send("nail", id, bin, 1, options),
        () => turn(bin, state, options),
        () => mutate("stockAdjust", { lines }, options),
      ][n % 5]!();
    }),
  );
  for (const { userErrors } of answers) assert.deepEqual(userErrors, []);
});
