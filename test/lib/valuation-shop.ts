import assert from "node:assert/strict";
import { sequence } from "../events/support.ts";
import type { ServiceOptions } from "./service.ts";
import type { ShippingShop } from "./shipping-shop.ts";
import { openShippingShop } from "./shipping-shop.ts";

/** The small shop, whose stock has prices and whose days can pass. */
export interface ValuationShop extends ShippingShop {
  /** Receives units into the hall, at a price of each or without one. Returns the id of the goods receipt. */
  buy(product: string, quantity: number, unitPrice: number | null, rest?: object): Promise<string>;
  /** Sells units from the hall. Returns the ids of the order and of the fulfillment. */
  sell(product: string, quantity: number, price?: number): Promise<{ order: string; fulfillment: string }>;
  /** Numbers all movements, and moves them and all counts to days before. */
  passDays(days: number): Promise<void>;
  /** The day so many days ago, in UTC. */
  day(daysAgo: number): string;
  /** Makes the draft of a report. Returns the payload. */
  draft(daysAgo: number): Promise<any>;
  /** Closes a draft. Returns the payload. */
  closeReport(id: string): Promise<any>;
  /** Makes and closes a report, which must succeed. Returns it. */
  report(daysAgo: number): Promise<any>;
  void(id: string, reason?: string): Promise<any>;
}

/** All that a report shows. */
export const reportFields = `id number referenceDate sequence method currencyCode quantity value faultCount lateEntryCount
  closedAt voidedAt voidReason hash previousHash linesHash stateHash successor { number }
  lines(first: 250) { edges { node { productNumber warehouseCode quantity unitCost value } } }
  faults { edges { node { code product { productNumber } goodsReceipt { id } } } }
  lateEntries { edges { node { day quantity value stockMovement { id } } } }`;

const aged = (days: number) => `
  alter table ledger.stock_movement disable trigger user;
  update ledger.stock_movement set created_at = created_at - interval '${days} days';
  update ledger.booking set booked_at = booked_at - interval '${days} days';
  alter table ledger.stock_movement enable trigger user;
  update ledger.stock_count set counted_at = counted_at - interval '${days} days'`;

export async function openValuationShop(options: ServiceOptions = {}): Promise<ValuationShop> {
  const shop = await openShippingShop(options);
  const select = `stockValuationReport { ${reportFields} }`;
  const draft: ValuationShop["draft"] = (daysAgo) =>
    shop.mutate("stockValuationReportCreate", { referenceDate: day(daysAgo) }, { select });
  const closeReport: ValuationShop["closeReport"] = (id) =>
    shop.mutate("stockValuationReportClose", { id }, { select });
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

  return {
    ...shop,
    draft,
    closeReport,
    day,
    void: (id, reason = "A price was wrong") =>
      shop.mutate("stockValuationReportVoid", { id, reason }, { select }),
    async buy(product, quantity, unitPrice, rest = {}) {
      const line = { productId: shop.id[product], quantity, unitPrice };
      const { goodsReceipt } = await shop.succeed(
        "goodsReceiptCreate",
        { type: "Free", warehouseId: shop.id.hall, lineItems: [line], ...rest },
        "goodsReceipt { id }",
      );
      await shop.succeed("goodsReceiptApprove", { id: goodsReceipt.id });
      await shop.succeed("goodsReceiptComplete", { id: goodsReceipt.id });
      await sequence(shop.owner);
      return goodsReceipt.id;
    },
    async sell(product, quantity, price = 10) {
      const order = await shop.order([{ product, quantity, price }], [{ lines: [[0, quantity]] }]);
      const { fulfillments, userErrors } = await shop.ship(order);
      assert.deepEqual(userErrors, []);
      await sequence(shop.owner);
      return { order: order.id, fulfillment: fulfillments[0].id };
    },
    async passDays(days) {
      await sequence(shop.owner);
      await shop.owner.query(aged(days));
    },
    async report(daysAgo) {
      const made = await draft(daysAgo);
      assert.deepEqual(made.userErrors, []);
      const closed = await closeReport(made.stockValuationReport.id);
      assert.deepEqual(closed.userErrors, []);
      return closed.stockValuationReport;
    },
  };
}
