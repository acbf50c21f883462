import assert from "node:assert/strict";
import type { ServiceOptions } from "./service.ts";
import type { OrderLine, ShippingShop, ShopOrder } from "./shipping-shop.ts";
import { openShippingShop } from "./shipping-shop.ts";

/** A line of a return as tests read it. */
export interface ReturnedLine {
  id: string;
  quantity: number;
  receivedQuantity: number;
  restockedQuantity: number;
  quarantinedQuantity: number;
  disposedQuantity: number;
  missingQuantity: number;
  refundedQuantity: number;
  refundAmount: number;
  product: { productNumber: string };
}

/** A return as tests read it. */
export interface ReturnedOrder {
  id: string;
  state: string;
  number: string;
  refundAmount: number;
  lines: ReturnedLine[];
}

/** A line of a goods receipt for a line of a return. */
export interface ArrivingLine {
  line: ReturnedLine;
  quantity: number;
  batchId?: string;
  plannedDisposalQuantity?: number;
}

/** Where units of the nth arriving line go: a short name of a place, or nothing to throw them away. */
export type PutAway = [nth: number, place: string | null, quantity: number, outcome?: string];

/** The shop that ships, with helpers for returns. Helpers fail when a call is refused. */
export interface ReturnShop extends ShippingShop {
  /** Creates an order that the hall ships at once, and returns it. */
  shipped(lines: OrderLine[]): Promise<ShopOrder>;
  /** Creates a return. Lines are pairs of an order's line and units, or inputs. */
  request(lines: ([string, number] | object)[], rest?: object): Promise<ReturnedOrder>;
  /** Reads a return. */
  returned(id: string): Promise<ReturnedOrder>;
  /** Creates the goods receipt of a parcel, with the lines that arrive. Returns its id, and those of its lines. */
  parcel(lines: ArrivingLine[]): Promise<{ id: string; lines: string[] }>;
  /** Receives lines in the hall, and puts them away. Returns the return of the first line. */
  receive(lines: ArrivingLine[], putAway?: PutAway[]): Promise<ReturnedOrder>;
}

const lineFields = `id quantity receivedQuantity restockedQuantity quarantinedQuantity disposedQuantity missingQuantity
  refundedQuantity refundAmount product { productNumber }`;
const returnFields = `id state number refundAmount lineItems(first: 250) { edges { node { ${lineFields} } } }`;

/** Returns the figures of a return's lines: announced, arrived, restocked, in quarantine, thrown away, missing. */
export const figures = ({ lines }: ReturnedOrder): number[][] =>
  lines.map((line) => [
    line.quantity,
    line.receivedQuantity,
    line.restockedQuantity,
    line.quarantinedQuantity,
    line.disposedQuantity,
    line.missingQuantity,
  ]);

const nodes = ({ edges }: any) => edges.map(({ node }: any) => node);
const amounts = (row: any) => ({ ...row, refundAmount: Number(row.refundAmount) });
const plain = ({ lineItems, ...rest }: any): ReturnedOrder => ({
  ...amounts(rest),
  lines: nodes(lineItems).map(amounts),
});

export async function openReturnShop(options: ServiceOptions = {}): Promise<ReturnShop> {
  const shop = await openShippingShop(options);
  await shop.owner.query(
    "insert into erp.number_range (technical_name, pattern) values ('return_order', 'R-{n}') on conflict do nothing",
  );
  // Where units wait for a decision
  await shop.owner.query("update erp.bin_location set stock_state = 'quality_control' where code = 'C-1'");
  const { succeed } = shop;
  const returned: ReturnShop["returned"] = async (id) =>
    plain(
      (await shop.read(`query ($id: ID!) { returnOrder(id: $id) { ${returnFields} } }`, { id })).returnOrder,
    );
  const parcel: ReturnShop["parcel"] = async (lines) => {
    const { products } = await shop.read("{ products(first: 50) { edges { node { id productNumber } } } }");
    const idOf = (number: string) => nodes(products).find((p: any) => p.productNumber === number).id;
    const lineItems = lines.map(({ line, ...rest }) => ({
      productId: idOf(line.product.productNumber),
      returnOrderLineItemId: line.id,
      ...rest,
    }));
    const { goodsReceipt } = await succeed(
      "goodsReceiptCreate",
      { warehouseId: shop.id["hall"], lineItems },
      "goodsReceipt { id type lineItems(first: 250) { edges { node { id } } } }",
    );
    assert.equal(goodsReceipt.type, "Customer");
    return { id: goodsReceipt.id, lines: nodes(goodsReceipt.lineItems).map(({ id }: any) => id) };
  };
  const at = (place: string) =>
    place.includes("-") ? { binLocationId: shop.id[place] } : { warehouseId: shop.id[place] };

  return {
    ...shop,
    returned,
    parcel,
    async shipped(lines) {
      const goods = lines.flatMap(({ product }, n) => (product ? [n] : []));
      const order = await shop.order(lines, [
        { lines: goods.map((n): [number, number] => [n, lines[n]!.quantity]) },
      ]);
      assert.deepEqual((await shop.ship(order)).userErrors, []);
      return order;
    },
    async request(lines, rest = {}) {
      const lineItems = lines.map((line) =>
        Array.isArray(line) ? { orderLineItemId: line[0], quantity: line[1], reason: "changed_mind" } : line,
      );
      const { returnOrder } = await succeed(
        "returnOrderCreate",
        { lineItems, ...rest },
        `returnOrder { ${returnFields} }`,
      );
      return plain(returnOrder);
    },
    async receive(lines, putAway = []) {
      const receipt = await parcel(lines);
      await succeed("goodsReceiptApprove", { id: receipt.id });
      await succeed("goodsReceiptComplete", {
        id: receipt.id,
        putAway: putAway.map(([nth, place, quantity, outcome]) => ({
          goodsReceiptLineItemId: receipt.lines[nth],
          quantity,
          ...(place && { place: at(place) }),
          ...(outcome && { outcome }),
        })),
      });
      const { returnOrderLineItem } = await shop.read(
        "query ($id: ID!) { returnOrderLineItem(id: $id) { returnOrder { id } } }",
        { id: lines[0]!.line.id },
      );
      return returned(returnOrderLineItem.returnOrder.id);
    },
  };
}
