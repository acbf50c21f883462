import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop } from "../lib/shop.ts";

const select = `warnings { code message field details } goodsReceipt { id number type state supplier { number } currency { isoCode }
  currencyFactor currencyFactorOriginType taxStatus amountNet amountTotal positionPrice supplierOrders { edges { node { id } } }
  lineItems { edges { node { id quantity unitPrice unitPriceInDefaultCurrency totalPriceInDefaultCurrency plannedDisposalQuantity product { productNumber }
    supplierOrder { id } destinationBinLocation { code } } } } }`;

/** The nodes of a connection. */
export const nodes = ({ edges }: any) => edges.map(({ node }: any) => node);
export const linesOf = ({ lineItems }: any) => nodes(lineItems);
/** Lines of a receipt: their quantities, and whether they count for an order. */
export const shares = (receipt: any): [quantity: number, counts: boolean][] =>
  linesOf(receipt).map((line: any) => [line.quantity, !!line.supplierOrder]);
/** Codes of the warnings of a payload. */
export const codes = ({ warnings }: any): string[] => warnings.map(({ code }: any) => code);

/** A supplier order: its id and number, and the ids of its lines. */
export interface Ordered {
  id: string;
  number: string;
  lines: string[];
}

/** A shop, and the work at its dock, over HTTP. */
export class Dock {
  shop!: Shop;
  /** A token for reading. */
  reader!: string;

  line(product: string, quantity: number, rest: object = {}): any {
    return { productId: this.shop.id[product], quantity, ...rest };
  }

  /** Calls a mutation of goods receipts. */
  mutate(name: string, input: object): Promise<any> {
    return this.shop.mutate(name, input, { select });
  }

  /** The same; fails when it is refused. */
  async done(name: string, input: object): Promise<any> {
    const payload = await this.mutate(name, input);
    assert.deepEqual(payload.userErrors, [], name);
    return payload;
  }

  /** A confirmed order with lines of product, quantity and price. */
  async order(
    lines: [product: string, quantity: number, unitPrice?: number][],
    input: object = {},
  ): Promise<Ordered> {
    const lineItems = lines.map(([product, quantity, unitPrice = 2]) => {
      return this.line(product, quantity, { unitPrice });
    });
    const { supplierOrder, userErrors } = await this.shop.mutate(
      "supplierOrderCreate",
      { supplierId: this.shop.id.acme, lineItems, ...input },
      { select: "supplierOrder { id number lineItems { edges { node { id } } } }" },
    );
    assert.deepEqual(userErrors, []);
    const { id, number } = supplierOrder;
    await this.move("Confirm", id);
    return { id, number, lines: linesOf(supplierOrder).map((line: any) => line.id) };
  }

  /** Calls a mutation of supplier orders; fails when it is refused. */
  async move(action: string, id: string): Promise<void> {
    const { userErrors } = await this.shop.mutate(`supplierOrder${action}`, { id });
    assert.deepEqual(userErrors, []);
  }

  /** The present state of a supplier order, and the received quantities of its lines. */
  async orderNow(id: string): Promise<any> {
    const query = `{ supplierOrder(id: "${id}") { state actualDeliveryDate lineItems { edges { node { receivedQuantity openQuantity actualDeliveryDate } } } } }`;
    const { supplierOrder } = (await this.shop.ask(this.reader, { query })).body.data;
    const { state, actualDeliveryDate } = supplierOrder;
    const lines = linesOf(supplierOrder);
    return { state, actualDeliveryDate, lines, received: lines.map((line: any) => line.receivedQuantity) };
  }

  /** Units of a product that are still to come. */
  async expected(product: string): Promise<number> {
    const query = `{ product(id: "${this.shop.id[product]}") { openSupplierOrderQuantity } }`;
    return (await this.shop.ask(this.reader, { query })).body.data.product.openSupplierOrderQuantity;
  }

  create(lineItems: object[], input: object = {}): Promise<any> {
    return this.done("goodsReceiptCreate", { lineItems, ...input });
  }

  /** Creates a receipt and approves it. Returns its id. */
  async approved(lineItems: object[], input: object = {}): Promise<string> {
    const { goodsReceipt } = await this.create(lineItems, input);
    await this.done("goodsReceiptApprove", { id: goodsReceipt.id });
    return goodsReceipt.id;
  }

  /** Creates a receipt, approves and completes it. */
  async receive(lineItems: object[], input: object = {}): Promise<any> {
    return await this.done("goodsReceiptComplete", { id: await this.approved(lineItems, input) });
  }
}

/** Opens a dock for the tests of a file; after each test the books must be right. */
export function useDock(): Dock {
  const dock = new Dock();
  before(async () => {
    dock.shop = await openShop({ poolSize: 10 });
    dock.reader = await dock.shop.token();
  });
  afterEach(() => assertLedgerIsRight(dock.shop));
  after(() => dock.shop.close());
  return dock;
}
