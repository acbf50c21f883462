import { gid } from "../lib/ids.ts";
import { sum } from "./facts.ts";
import { Sales } from "./sales.ts";

/** A merchant who does everything at once: sells, promises, ships, takes back, counts, moves, holds and closes. */
export class Dealings extends Sales {
  override async open(): Promise<void> {
    await super.open();
    for (let n = 0; n < 30; n++) await this.adjust();
  }

  // Returns

  async announce(): Promise<void> {
    const { facts } = this.books;
    const shipped = this.one(facts.lines, (line) => line.shipped > line.returned && line.product !== null);
    const line =
      shipped && !this.chance(5)
        ? {
            orderLineItemId: gid("OrderLineItem", shipped.id),
            quantity: this.some(shipped.shipped - shipped.returned),
          }
        : { productId: gid("Product", this.product().id), quantity: this.some(3) };
    const orderId = "orderLineItemId" in line ? gid("Order", shipped!.order) : undefined;
    await this.call("returnOrderCreate", { orderId, lineItems: [line], isApproved: this.chance(2) });
  }
  async decide(): Promise<void> {
    const one = this.one(this.books.facts.returns);
    if (!one) return;
    const line = this.one(
      this.books.facts.returnLines,
      (some) => some.return === one.id && some.line === null,
    );
    const sold =
      line && this.one(this.books.facts.lines, (some) => some.product === line.product && some.shipped > 0);
    if (sold && this.chance(2)) {
      const lineItems = [
        { id: gid("ReturnOrderLineItem", line.id), orderLineItemId: gid("OrderLineItem", sold.id) },
      ];
      return void (await this.call("returnOrderUpdate", {
        id: gid("ReturnOrder", one.id),
        orderId: gid("Order", sold.order),
        lineItems,
      }));
    }
    const name = this.random.oneOf([
      "Approve",
      "Approve",
      "Refuse",
      "Cancel",
      "Close",
      "Close",
      "Refund",
      "Refund",
    ]);
    await this.call(`returnOrder${name}`, {
      id: gid("ReturnOrder", one.id),
      ...(name === "Refuse" && { refusalReason: "No" }),
    });
  }
  async parcel(): Promise<void> {
    const line = this.one(this.books.facts.returnLines, ({ product }) => product !== null);
    if (!line) return;
    const product = this.books.row(line.product);
    const its = line.line && this.books.row(line.line).order;
    const pile =
      its && this.one(this.books.piles, (one) => one.place === `order:${its}` && one.product === product.id);
    const quantity = this.some(line.quantity + (this.chance(4) ? 1 : 0));
    const warehouseId = gid("Warehouse", this.warehouse().id);
    const batchId = pile ? this.idOf(pile.batch) : this.batchOf(product);
    const lineItem = {
      productId: gid("Product", product.id),
      quantity,
      batchId,
      returnOrderLineItemId: gid("ReturnOrderLineItem", line.id),
    };
    const plannedDisposalQuantity = this.chance(3) ? this.some(quantity) : 0;
    await this.call("goodsReceiptCreate", {
      type: "Customer",
      warehouseId,
      lineItems: [{ ...lineItem, plannedDisposalQuantity }],
    });
  }
  async receive(): Promise<void> {
    const { facts } = this.books;
    const one = this.one(facts.receipts, ({ state }) => state !== "completed");
    if (!one) return;
    const id = gid("GoodsReceipt", one.id);
    if (this.chance(10)) return void (await this.call("goodsReceiptDelete", { id }));
    if (one.state === "created") return void (await this.call("goodsReceiptApprove", { id }));
    const [line] = facts.receiptLines.filter(({ receipt }) => receipt === one.id);
    if (!line || this.chance(3)) return void (await this.call("goodsReceiptComplete", { id }));
    const { rows } = await this.shop.owner.query("select warehouse_id from erp.goods_receipt where id = $1", [
      one.id,
    ]);
    const goodsReceiptLineItemId = gid("GoodsReceiptLineItem", line.id);
    const rest = line.quantity - line.disposal;
    const first = rest > 1 ? this.some(rest - 1) : rest;
    const put = (quantity: number) =>
      this.chance(5)
        ? { goodsReceiptLineItemId, quantity, outcome: "dispose" }
        : { goodsReceiptLineItemId, quantity, place: this.place(rows[0].warehouse_id) };
    const putAway = [first, rest - first].filter((units) => units > 0).map(put);
    await this.call("goodsReceiptComplete", { id, ...(putAway.length > 0 && { putAway }) });
  }

  /** Does something. What happens more often has more of the dice. */
  async act(): Promise<void> {
    const acts: [number, () => Promise<void>][] = [
      [7, () => this.order()],
      [9, () => this.reserve()],
      [4, () => this.endPromise()],
      [7, () => this.assign()],
      [8, () => this.handle()],
      [6, () => this.ship()],
      [2, () => this.cancelShipment()],
      [4, () => this.endOrReopen()],
      [2, () => this.source()],
      [5, () => this.adjust()],
      [2, () => this.set()],
      [4, () => this.transfer()],
      [3, () => this.setState()],
      [3, () => this.hold()],
      [1, () => this.keepSafety()],
      [1, () => this.openOrClose()],
      [1, () => this.replaceThings()],
      [1, () => this.allowBackorders()],
      [6, () => this.announce()],
      [5, () => this.decide()],
      [6, () => this.parcel()],
      [8, () => this.receive()],
      [7, () => this.count()],
    ];
    let left = this.random.below(sum(acts, ([weight]) => weight));
    for (const [weight, act] of acts) if ((left -= weight) < 0) return await act();
  }
}
