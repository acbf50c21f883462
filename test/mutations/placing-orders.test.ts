import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";

let shop: Shop;
before(async () => {
  shop = await openShop({ versions });
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const nodes = ({ edges }: any) => edges.map(({ node }: any) => node);
const lines = (quantities: number[]) => quantities.map((quantity) => ({ productId: shop.id.nail, quantity }));

describe("orders are placed with lines, and with active suppliers", () => {
  const create = async (supplierId: string | undefined, lineItems: object[]) => {
    const payload = await shop.mutate(
      "supplierOrderCreate",
      { supplierId, lineItems },
      { select: "supplierOrder { id }" },
    );
    assert.deepEqual(payload.userErrors, []);
    return payload.supplierOrder.id as string;
  };

  it("an empty order is neither sent nor confirmed", async () => {
    const id = await create(shop.id.acme, []);
    for (const action of ["Send", "Confirm"])
      assert.deepEqual(refusals(await shop.mutate(`supplierOrder${action}`, { id })), [["REQUIRED", "id"]]);
    assert.deepEqual(refusals(await shop.mutate("supplierOrderCancel", { id })), []);
  });

  it("nothing is ordered from an inactive supplier; what was sent is still confirmed", async () => {
    const [open, sent, others] = [
      await create(shop.id.forge, lines([1])),
      await create(shop.id.forge, lines([1])),
      await create(shop.id.acme, lines([1])),
    ];
    await shop.mutate("supplierOrderSend", { id: sent });
    await shop.owner.query("update erp.supplier set active = false where number = 'forge'");
    const supplierId = shop.id.forge;
    for (const [name, input, field] of [
      ["supplierOrderCreate", { supplierId, lineItems: lines([1]) }, "supplierId"],
      ["supplierOrderUpdate", { id: others, supplierId }, "supplierId"],
      ["supplierOrderSend", { id: open }, "id"],
      ["supplierOrderConfirm", { id: open }, "id"],
    ] as const)
      assert.deepEqual(refusals(await shop.mutate(name, input)), [["SUPPLIER_INACTIVE", field]], name);
    assert.deepEqual(refusals(await shop.mutate("supplierOrderConfirm", { id: sent })), []);
    assert.deepEqual(refusals(await shop.mutate("supplierOrderUpdate", { id: open, comment: "old" })), []);
  });

  it("frozen versions, which don't know the code, show it as INVALID", async () => {
    const frozen = await shop.mutate(
      "supplierOrderCreate",
      { supplierId: shop.id.forge, lineItems: lines([1]) },
      { version: "2026-06-unstable" },
    );
    assert.deepEqual(refusals(frozen), [["INVALID", "supplierId"]]);
  });

  it("frozen versions receive in the same way, without telling of it", async () => {
    const version = "2026-06-unstable";
    const id = await create(shop.id.acme, lines([3]));
    const call = async (name: string, input: object) => {
      const select = "goodsReceipt { id state lineItems { edges { node { quantity supplierOrderId } } } }";
      const payload = await shop.mutate(`goodsReceipt${name}`, input, { version, select });
      assert.deepEqual(payload.userErrors, []);
      return payload.goodsReceipt;
    };
    const [{ productId }] = lines([3]) as [any];
    const receipt = await call("Create", {
      type: "Supplier",
      lineItems: [{ productId, quantity: 5, supplierOrderId: id }],
    });
    await call("Approve", { id: receipt.id });
    const { state, lineItems } = await call("Complete", { id: receipt.id });
    assert.equal(state, "completed");
    assert.deepEqual(
      nodes(lineItems).map(({ quantity, supplierOrderId }: any) => [quantity, supplierOrderId]),
      [
        [3, id],
        [2, null],
      ],
    );
  });
});
