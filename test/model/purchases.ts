import { Books } from "./books.ts";
import type { Receipt, ReceiptLine } from "./record.ts";

/** What comes in, and what goes back to those who sent it. */
export class Purchases extends Books {
  readonly receipts: { id: string; state: string; receipt: Receipt }[] = [];

  get euro(): string {
    return this.merchant.currencies[1]!;
  }

  price(): string {
    const random = this.random;
    return random.oneOf([0, 2, 4, 4]) === 0 && random.below(3) === 0
      ? "0"
      : random.between(0.01, 90).toFixed(random.oneOf([0, 2, 4]));
  }

  /** A receipt that was announced: of a supplier, or without one. Some lines take back what an earlier one brought. */
  async announce(): Promise<void> {
    const random = this.random;
    const lines = Array.from({ length: 1 + random.below(4) }, () => {
      const product = random.oneOf(this.products);
      const quantity = 1 + random.below(30);
      const line: ReceiptLine = {
        product: product.id,
        quantity,
        price: random.below(25) === 0 ? null : this.price(),
        taxRate: random.oneOf(["0", "7", "19", "19"]),
        disposed: random.below(6) === 0 ? 1 + random.below(quantity) : 0,
      };
      return { line, batch: this.batchOf(product).batch };
    });
    const receipt: Receipt = {
      type: random.oneOf(["Supplier", "Free"]),
      taxStatus: random.oneOf(["gross", "net", "net", "tax-free"]),
      factor: "1",
      currency: random.oneOf(this.merchant.currencies),
      lines: lines.map(({ line }) => line),
    };
    const [warehouse] = this.merchant.warehouses;
    const isForeign = receipt.currency !== this.euro;
    if (isForeign) receipt.factor = random.between(0.5, 2).toFixed(random.oneOf([1, 4]));
    const input = {
      type: receipt.type,
      warehouse_id: warehouse,
      supplier_id: receipt.type === "Supplier" ? this.merchant.supplier : undefined,
      currency_id: receipt.currency,
      currency_factor: isForeign ? receipt.factor : undefined,
      tax_status: receipt.taxStatus,
    };
    await this.announceLines(
      receipt,
      input,
      lines.map(({ line, batch }) => ({ ...line, batch })),
    );
  }

  /** Makes a receipt ready to be approved. */
  async announceLines(
    receipt: Receipt,
    input: object,
    lines: (ReceiptLine & { batch?: string; returnOrder?: string })[],
  ): Promise<void> {
    const wanted = lines.map((line) => ({
      product_id: line.product,
      quantity: line.quantity,
      batch_id: line.batch,
      return_order_id: line.returnOrder,
      unit_price: line.price,
      // 19 % is what products have
      tax_rate: line.taxRate === "19" ? undefined : line.taxRate,
      planned_disposal_quantity: line.disposed,
    }));
    const done = await this.book(() =>
      this.run(
        `select erp.create_goods_receipt($1, array(select l from jsonb_populate_recordset(null::erp.goods_receipt_line, $2) l), '{}') as id`,
        [JSON.stringify(input), JSON.stringify(wanted)],
      ),
    );
    if (done) this.receipts.push({ id: done.result[0].id, state: "created", receipt });
    if (done) this.record.receipts.set(done.result[0].id, receipt);
  }

  /** The next step of a receipt. */
  async receive(): Promise<void> {
    const open = this.receipts.filter(({ state }) => state !== "completed");
    if (open.length === 0) return await this.announce();
    const one = this.random.oneOf(open);
    if (one.state === "approved" && this.random.below(8) === 0) {
      const remove = () => this.call("goods_receipt_delete", { id: one.id });
      if (await this.book(remove, `goods_receipt:${one.id}`))
        this.receipts.splice(this.receipts.indexOf(one), 1);
      return;
    }
    const name = one.state === "created" ? "approve" : "complete";
    const done = await this.book(() => this.call(`goods_receipt_${name}`, { id: one.id }));
    if (done) one.state = name === "approve" ? "approved" : "completed";
  }

  /** Takes back to a supplier, or to nobody, by a receipt with negative lines. */
  async giveBack(): Promise<void> {
    const [warehouse] = this.merchant.warehouses;
    const pile = this.pile((place) => place === `warehouse:${warehouse}`);
    if (!pile) return;
    const { product, units, batch } = pile;
    const line = {
      product,
      quantity: -this.some(Math.min(units, 6)),
      price: "3",
      taxRate: "19",
      disposed: 0,
    };
    const receipt: Receipt = {
      type: "Free",
      taxStatus: "net",
      factor: "1",
      currency: this.euro,
      lines: [line],
    };
    await this.announceLines(receipt, { type: "Free", warehouse_id: warehouse, currency_id: this.euro }, [
      { ...line, ...(batch && { batch }) },
    ]);
  }
}
