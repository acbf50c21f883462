import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { pickingIn } from "../lib/picking.ts";
import type { MutateOptions } from "../lib/shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// People plan, scan, pack and cancel at the same time, through two processes
let shop: ShippingShop;
let picking: ReturnType<typeof pickingIn>;
let processes: NonNullable<MutateOptions["process"]>[];
before(async () => {
  shop = await openShippingShop({ poolSize: 20 });
  picking = pickingIn(shop);
  processes = [shop, await shop.another()];
});
after(() => shop.close());
beforeEach(() => picking.clear());

/** Calls at once, in turns through both processes. */
const atOnce = (calls: [name: string, input: object][]): Promise<any[]> =>
  Promise.all(
    calls.map(([name, input], index) => picking.call(name, input, { process: processes[index % 2]! })),
  );
const codesOf = (payloads: any[]): string[] =>
  payloads.map((payload) => refusals(payload)[0]?.[0] ?? "done").sort();

it("plans each fulfillment order and each unit once", async () => {
  await shop.store("nail", "A-1", 10);
  for (let n = 0; n < 12; n++) await picking.order(["nail", 1]);
  const wave: [string, object] = [
    "pickListsCreate",
    { warehouseId: shop.id.hall, ordersPerList: 4, lists: [{ assignee: "Ada" }] },
  ];
  const payloads = await atOnce([wave, wave, wave, wave]);
  const planned = await Promise.all(
    payloads.flatMap(({ pickLists }) => pickLists ?? []).map(({ id }: any) => picking.read(id)),
  );
  const orders = planned.flatMap(({ tasks }) => tasks.map((task: any) => task.fulfillmentOrderId));
  assert.equal(new Set(orders).size, orders.length);
  const units = planned.flatMap(({ lines }) => lines).reduce((sum, { quantity }) => sum + quantity, 0);
  assert.ok(units <= 10, `${units} of 10 units are planned`);
  assert.ok(units > 0);
  const containers = planned.flatMap(({ tasks }) => tasks.map((task: any) => task.stockContainer.id));
  assert.equal(new Set(containers).size, containers.length);
  await assertLedgerIsRight(shop);
});

it("counts the units of two scanners together, and never too many", async () => {
  await shop.store("hammer", "A-1", 20);
  const list = await picking.begin([await picking.order(["hammer", 5])]);
  const scan: [string, object] = ["pickListLineConfirm", { id: list.lines[0].id, code: "hammer" }];
  const payloads = await atOnce(Array.from({ length: 8 }, () => scan));
  assert.deepEqual(codesOf(payloads), [
    ...Array.from({ length: 3 }, () => "INVALID_STATE_TRANSITION"),
    ...Array.from({ length: 5 }, () => "done"),
  ]);
  assert.equal(await picking.inContainer("hammer", list.tasks[0].stockContainer.id), 5);
  // Both packers, and somebody who cancels the list
  const pack: [string, object] = ["pickListPack", { pickTaskId: list.tasks[0].id }];
  const ends = await atOnce([pack, pack, ["pickListCancel", { id: list.id }]]);
  assert.deepEqual(codesOf(ends), ["INVALID_STATE_TRANSITION", "INVALID_STATE_TRANSITION", "done"]);
  assert.equal(await picking.inContainer("hammer", list.tasks[0].stockContainer.id), 0);
  await assertLedgerIsRight(shop);
});

it("picks, packs, counts, holds and cancels at the same time without deadlocks", async () => {
  await shop.store("hammer", "A-1", 40);
  await shop.store("nail", "A-1", 40);
  const orders = [];
  for (let n = 0; n < 6; n++)
    orders.push(
      await picking.order(
        ...(n % 2
          ? ([
              ["hammer", 2],
              ["nail", 2],
            ] as const)
          : ([
              ["nail", 2],
              ["hammer", 2],
            ] as const)
        ).map(([product, units]) => [product, units] as [string, number]),
      ),
    );
  const lists = [await picking.begin(orders.slice(0, 3)), await picking.begin(orders.slice(3))];
  const scans = lists.flatMap(({ lines }) =>
    lines.map((line: any): [string, object] => [
      "pickListLineConfirm",
      { id: line.id, code: line.product.productNumber, quantity: 2 },
    ]),
  );
  const others: [string, object][] = [
    ["fulfillmentOrderCancel", { id: orders[0]!.fulfillmentOrders[0]!.id }],
    ["stockSet", { lines: [shop.line("hammer", "A-1", { quantity: 30 })] }],
    ["orderCancel", { id: orders[3]!.id }],
    ["pickListCancel", { id: lists[1].id, pickTaskIds: [lists[1].tasks[1].id] }],
    ["pickListLineShort", { id: lists[0].lines[5].id }],
    ["pickListsCreate", { warehouseId: shop.id.hall }],
  ];
  const call = ([name, input]: [string, object], index: number) =>
    shop.tryMutate(name, input, { process: processes[index % 2]!, select: "__typename" });
  const answers = await Promise.all([...scans, ...others].map(call));
  for (const { body, text } of answers) assert.equal(body.errors, undefined, text);
  const packs = lists.flatMap(({ tasks }) =>
    tasks.map(({ id }: any): [string, object] => ["pickListPack", { pickTaskId: id }]),
  );
  for (const { body, text } of await Promise.all(packs.map(call))) assert.equal(body.errors, undefined, text);
  await assertLedgerIsRight(shop);
});
