import assert from "node:assert/strict";
import { lineValue } from "../../model/model.ts";
import { micro, share } from "../../model/money.ts";
import type { Merchant } from "./merchant.ts";
import { nodes } from "./merchant.ts";

interface OrderedLine {
  id: string;
  product: string;
  quantity: number;
  received: number;
  price: string;
}
export interface Purchase {
  id: string;
  currency: string;
  state: string;
  lines: OrderedLine[];
}
/** Units of a line that arrive, and the bin that they are put into. */
export interface Arrival {
  line: number;
  units: number;
  place: string;
  batch?: string;
}

/** Units of each currency per euro. */
export const factors: Record<string, string> = { EUR: "1", USD: "1.25", CHF: "0.93" };

/** What is bought from suppliers: ordered, received in parts, with the costs of its way. */
export class Purchases {
  readonly orders: Purchase[] = [];
  readonly #merchant: Merchant;

  constructor(merchant: Merchant) {
    this.#merchant = merchant;
  }

  async order(
    supplier: string,
    currency: string,
    wanted: [product: string, quantity: number, price: string][],
  ): Promise<Purchase> {
    const merchant = this.#merchant;
    const { supplierOrder } = await merchant.call(
      "supplierOrderCreate",
      {
        supplierId: merchant.id[supplier],
        currencyId: merchant.id[currency],
        warehouseId: merchant.id.hall,
        taxStatus: "net",
        lineItems: wanted.map(([product, quantity, price]) => ({
          productId: merchant.id[product],
          quantity,
          unitPrice: Number(price),
          taxRate: 19,
        })),
      },
      "supplierOrder { id lineItems(first: 50) { edges { node { id } } } }",
    );
    for (const step of ["supplierOrderSend", "supplierOrderConfirm"])
      await merchant.call(step, { id: supplierOrder.id });
    const lines = nodes(supplierOrder.lineItems).map(({ id }, n) => {
      const [product, quantity, price] = wanted[n]!;
      return { id, product, quantity, received: 0, price };
    });
    const purchase = { id: supplierOrder.id, currency, state: "confirmed", lines };
    this.orders.push(purchase);
    return purchase;
  }

  /** Books a delivery in, and puts it away. Returns the id of the goods receipt. */
  async receive(purchase: Purchase, arrivals: Arrival[]): Promise<string> {
    const merchant = this.#merchant;
    const { id, accounts } = merchant;
    const { goodsReceipt } = await merchant.call(
      "goodsReceiptCreate",
      {
        type: "Supplier",
        warehouseId: id.hall,
        currencyId: id[purchase.currency],
        currencyFactor: Number(factors[purchase.currency]),
        taxStatus: "net",
        lineItems: arrivals.map(({ line, units, batch }) => {
          const ordered = purchase.lines[line]!;
          return {
            productId: id[ordered.product],
            supplierOrderId: purchase.id,
            supplierOrderLineItemId: ordered.id,
            quantity: units,
            unitPrice: Number(ordered.price),
            taxRate: 19,
            ...(batch && { batchNumber: batch }),
          };
        }),
      },
      "goodsReceipt { id lineItems(first: 50) { edges { node { id } } } }",
    );
    await merchant.call("goodsReceiptApprove", { id: goodsReceipt.id });
    const putAway = nodes(goodsReceipt.lineItems).map((line, n) => ({
      goodsReceiptLineItemId: line.id,
      place: merchant.place(arrivals[n]!.place),
      quantity: arrivals[n]!.units,
    }));
    await merchant.call("goodsReceiptComplete", { id: goodsReceipt.id, putAway });
    const receipt = {
      type: "Supplier",
      taxStatus: "net",
      factor: factors[purchase.currency]!,
      currency: "",
      lines: [],
    } as const;
    for (const { line, units, place, batch } of arrivals) {
      const { product, price } = purchase.lines[line]!;
      accounts.bring(product, place, units, batch);
      accounts.worthOf(product).bring(units, lineValue({ ...receipt, lines: [] }, price, units, "19"));
      purchase.lines[line]!.received += units;
    }
    const isAll = purchase.lines.every(({ quantity, received }) => received >= quantity);
    purchase.state = isAll ? "delivered" : "partially_delivered";
    return goodsReceipt.id;
  }

  /** Freight and customs of a delivery of one product, paid in euros: the part of units that are gone is expense. */
  async addCosts(
    receipt: string,
    product: string,
    received: number,
    amount: string,
    day: string,
  ): Promise<void> {
    const { landedCosts } = await this.#merchant.call(
      "landedCostAllocate",
      { goodsReceiptId: receipt, amount, basis: "by_value", day },
      "landedCosts { amount }",
    );
    assert.equal(landedCosts.length, 1);
    const pool = this.#merchant.accounts.worthOf(product);
    pool.raise(share(micro(amount), pool.left(receipt, received), received));
  }

  /** Units that are still to come. */
  open(product: string): number {
    let units = 0;
    for (const { lines } of this.orders)
      for (const line of lines)
        if (line.product === product) units += Math.max(0, line.quantity - line.received);
    return units;
  }
}
