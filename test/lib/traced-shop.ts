import assert from "node:assert/strict";
import { uuidOf } from "./ids.ts";
import type { ShippingShop, ShopOrder } from "./shipping-shop.ts";
import { openShippingShop } from "./shipping-shop.ts";

/** A place in SQL: the part of its columns' names, and its id or name. */
export type SqlPlace = readonly [column: string, value: string];

/** An order that was shipped by one parcel. */
export interface Sold extends ShopOrder {
  /** Id of the fulfillment. */
  parcel: string;
  parcelNumber: string;
}

/** The shop, and ways to move units of the batches of glue. */
export interface TracedShop extends ShippingShop {
  /** Inserts a movement of a batch between any two places, as other programs do. */
  book(batch: string, quantity: number, from: SqlPlace, to: SqlPlace, process?: string): Promise<void>;
  /** Makes an order and ships units of batches to it. */
  sell(...units: [bin: string, batch: string, quantity: number][]): Promise<Sold>;
  /** Completes a goods receipt with lines of glue. Returns its id. */
  receive(lines: object[], input?: object): Promise<string>;
  /** Reads the trace of a batch. */
  trace(batch: string): Promise<any>;
}

const special = "special_stock_location";
/** A special place, such as `initialization`. */
export const specialPlace = (name: string): SqlPlace => [`${special}_technical_name`, name];

export const traceFields = `
  trace { receivedQuantity shippedQuantity returnedQuantity removedQuantity remainingQuantity }
  origins(first: 250) { edges { node { kind quantity supplierOrderNumbers goodsReceiptId goodsReceipt { type supplier { number } } } } }
  shipments(first: 250) { edges { node { orderId shippedQuantity returnedQuantity keptQuantity firstMovedAt lastMovedAt
    order { orderNumber customer { email } } shippingAddress fulfillmentNumbers trackingCodes } } }
  removals(first: 250) { edges { node { kind quantity goodsReceiptId } } }
  stocks(first: 250, filter: { NOT: { stock: { locationTypeTechnicalName: { equals: "order" } } } }) { edges { node {
    quantity stock { locationTypeTechnicalName binLocation { code } } } } }`;

export const nodesOf = (list: any): any[] => list.edges.map(({ node }: any) => node);

export async function openTracedShop(): Promise<TracedShop> {
  const shop = await openShippingShop();
  const typeOf = ([column]: SqlPlace) => column.replace(/_id$|_technical_name$/, "");

  return {
    ...shop,
    async book(batch, quantity, from, to, process) {
      const movement = `insert into ledger.stock_movement (product_id, quantity, process_type_technical_name,
          source_location_type_technical_name, source_${from[0]}, destination_location_type_technical_name, destination_${to[0]})
        values ($1, $2, $3, $4, $5, $6, $7) returning id`;
      await shop.owner.query(
        `with m as (${movement}) insert into ledger.stock_movement_batch select id, $8, $2::int from m`,
        [
          ...[uuidOf(shop.id.glue!), quantity, process ?? null],
          ...[typeOf(from), from[1], typeOf(to), to[1], uuidOf(shop.id[batch]!)],
        ],
      );
    },
    async sell(...units) {
      const quantity = units.reduce((sum, [, , each]) => sum + each, 0);
      const made = await shop.order([{ product: "glue", quantity }], [{ lines: [[0, quantity]] }]);
      const [from] = made.fulfillmentOrders;
      const places = units.map(([bin, batch, each]) => ({
        ...{ place: { binLocationId: shop.id[bin] }, quantity: each, batchId: shop.id[batch] },
      }));
      const lines = [{ fulfillmentOrderLineItemId: from!.lines[0], quantity, places }];
      const { fulfillment, userErrors } = await shop.fulfill(from!, { lines });
      assert.deepEqual(userErrors, []);
      return { ...made, parcel: fulfillment.id, parcelNumber: fulfillment.number };
    },
    async receive(lines, input = {}) {
      const call = async (action: string, rest: object) => {
        const select = "goodsReceipt { id }";
        const { goodsReceipt, userErrors } = await shop.mutate(`goodsReceipt${action}`, rest, { select });
        assert.deepEqual(userErrors, [], action);
        return goodsReceipt.id;
      };
      const lineItems = lines.map((line) => ({ productId: shop.id.glue, ...line }));
      const id = await call("Create", { lineItems, warehouseId: shop.id.hall, ...input });
      await call("Approve", { id });
      return call("Complete", { id });
    },
    async trace(batch) {
      const query = `query ($id: ID!) { batch(id: $id) { ${traceFields} } }`;
      return (await shop.read(query, { id: shop.id[batch] })).batch;
    },
  };
}
