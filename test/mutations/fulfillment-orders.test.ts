import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { missingId } from "../lib/ids.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { ShopOrder, ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const make = async (state: string, type?: string): Promise<ShopOrder> =>
  shop.order([{ product: "nail", quantity: 5 }], [{ lines: [[0, 5]], state, ...(type && { type }) }]);
const only = (order: ShopOrder) => order.fulfillmentOrders[0]!.id;
const call = (action: string, id: string, rest: object = {}, select = "fulfillmentOrder { id state }") =>
  shop.mutate(`fulfillmentOrder${action}`, { id, ...rest }, { select });
const reservedQuantity = async () => {
  const [row] = await shop.sql("select sum(reserved_quantity)::int as sum from ledger.warehouse_stock");
  return row.sum as number;
};

const states = ["Open", "InProgress", "OnHold", "Closed", "Cancelled"] as const;
/** The state after each action; all other states refuse it. */
const transitions: Record<string, Partial<Record<(typeof states)[number], string>>> = {
  Start: { Open: "InProgress" },
  Hold: { Open: "OnHold", InProgress: "OnHold" },
  ReleaseHold: { OnHold: "Open" },
  Cancel: { Open: "Cancelled", InProgress: "Cancelled", OnHold: "Cancelled" },
};
const allowedActions = {
  Open: ["cancel", "close", "hold", "move", "split", "start"],
  InProgress: ["cancel", "close", "hold"],
  OnHold: ["cancel", "release_hold"],
  Closed: [],
  Cancelled: [],
};

for (const [action, leadsTo] of Object.entries(transitions)) {
  describe(`fulfillmentOrder${action}`, () => {
    for (const state of states) {
      const next = leadsTo[state];
      it(next ? `leads from ${state} to ${next}` : `is refused in state ${state}`, async () => {
        const order = await make(state);
        const { fulfillmentOrder, userErrors } = await call(action, only(order));
        if (next) {
          assert.deepEqual([fulfillmentOrder, userErrors], [{ id: only(order), state: next }, []]);
        } else {
          assert.equal(fulfillmentOrder, null);
          assert.deepEqual(
            userErrors.map(({ code, field, details }: any) => [code, field, details]),
            [["INVALID_STATE_TRANSITION", null, { state, allowedActions: allowedActions[state] }]],
          );
        }
        assert.deepEqual((await shop.stateOf(order)).fulfillmentOrders, [[next ?? state, false]]);
      });
    }

    it("leaves alone what is managed externally, and finds nothing where there is nothing", async () => {
      for (const state of ["Open", "OnHold"]) {
        const order = await make(state, "ExternalToOrder");
        assert.deepEqual(refusals(await call(action, only(order))), [["EXTERNALLY_MANAGED", "id"]]);
        assert.deepEqual((await shop.stateOf(order)).fulfillmentOrders, [[state, false]]);
      }
      const nothing = missingId("FulfillmentOrder");
      assert.deepEqual(refusals(await call(action, nothing)), [["NOT_FOUND", "id"]]);
    });

    it("needs orders:write", async () => {
      const id = only(await make("Open"));
      for (const scopes of [{ read: "all" as const }, { read: [], write: ["stocks"] }]) {
        const token = await shop.token(scopes);
        const { codes } = await shop.tryMutate(`fulfillmentOrder${action}`, { id }, { token });
        assert.deepEqual(codes, ["FORBIDDEN"]);
      }
    });
  });
}

describe("a hold", () => {
  it("ends where it began: in work", async () => {
    const order = await make("Open");
    await call("Start", only(order));
    await call("Hold", only(order));
    assert.equal((await call("ReleaseHold", only(order))).fulfillmentOrder.state, "InProgress");
  });

  it("keeps its comment as long as it lasts", async () => {
    const order = await make("InProgress");
    const select = "fulfillmentOrder { holdComment }";
    const held = await call("Hold", only(order), { comment: "Waiting for payment" }, select);
    assert.deepEqual(held.fulfillmentOrder, { holdComment: "Waiting for payment" });
    const released = await call("ReleaseHold", only(order), {}, select);
    assert.deepEqual(released.fulfillmentOrder, { holdComment: null });
    await call("Hold", only(order), { comment: "Once more" });
    assert.deepEqual((await call("Cancel", only(order), {}, select)).fulfillmentOrder, { holdComment: null });
    const long = await call("Hold", only(await make("Open")), { comment: "x".repeat(1001) });
    assert.deepEqual(refusals(long), [["OUT_OF_RANGE", "comment"]]);
  });

  it("keeps the units promised; cancelling gives them back", async () => {
    const before = await reservedQuantity();
    const order = await make("Open");
    assert.equal(await reservedQuantity(), before + 5);
    await call("Hold", only(order));
    assert.equal(await reservedQuantity(), before + 5);
    await call("Cancel", only(order));
    assert.equal(await reservedQuantity(), before);
  });
});

describe("the actions that there are", () => {
  it("are rows that an administrator may change", async () => {
    const order = await make("Closed");
    await shop.sql(
      "insert into erp.state_transition (machine, action, from_state, to_state) values ('fulfillment_order', 'start', 'Closed', 'InProgress')",
    );
    assert.equal((await call("Start", only(order))).fulfillmentOrder.state, "InProgress");
    await shop.sql(
      "delete from erp.state_transition where machine = 'fulfillment_order' and action = 'start' and from_state = 'Closed'",
    );
  });
});
