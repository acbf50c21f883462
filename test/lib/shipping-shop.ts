import assert from "node:assert/strict";
import { uuidOf } from "./ids.ts";
import type { ServiceOptions } from "./service.ts";
import type { Shop } from "./shop.ts";
import { openShop } from "./shop.ts";

/** A line of an order: units of a product, or a line without a product. */
export interface OrderLine {
  product?: string;
  quantity: number;
  type?: string;
  shipped?: number;
  /** Price of one unit with tax; 1 by default. */
  price?: number;
  /** Tax rate in percent; none by default. */
  taxRate?: number;
}

/** The part of an order that a warehouse ships: units by the index of the line. */
export interface Assignment {
  location?: string | null;
  lines: [line: number, quantity: number][];
  state?: string;
  type?: string;
}

export interface OrderOptions {
  state?: string;
  deliveryState?: string | null;
}

/** Global ids of an order and its parts. */
export interface ShopOrder {
  id: string;
  lines: string[];
  fulfillmentOrders: { id: string; lines: string[] }[];
}

/** The small shop with stock and customers. */
export interface ShippingShop extends Shop {
  /** Creates an order with its fulfillment orders. */
  order(lines: OrderLine[], assignments?: Assignment[], options?: OrderOptions): Promise<ShopOrder>;
  /** Puts units into a bin or warehouse, optionally of a batch. */
  store(product: string, place: string, quantity: number, batch?: string): Promise<void>;
  /** Reads the state of an order: states, shipped quantities, fulfillment orders. */
  stateOf(order: ShopOrder): Promise<OrderState>;
  /** Runs SQL as the owner of the tables, with uuids in place of `$id`. Returns the rows. */
  sql(text: string, ...ids: string[]): Promise<any[]>;
  /** Runs a query with all scopes. */
  read(query: string, variables?: object): Promise<any>;
  ship(order: ShopOrder, rest?: object): Promise<any>;
  fulfill(fulfillmentOrder: { id: string }, rest?: object): Promise<any>;
  cancel(fulfillmentId: string, rest?: object): Promise<any>;
  /** Lists the movements in a payload of orderShipmentComplete, fulfillmentCreate or fulfillmentCancel. */
  moves(payload: any): [quantity: number, source: string, destination: string, process: string][];
}

export interface OrderState {
  state: string;
  deliveryState: string | null;
  shipped: number[];
  fulfillmentOrders: [state: string, isPartiallyFulfilled: boolean][];
  trackingCodes: string[] | null;
}

const rows = `
  insert into erp.number_range (technical_name, pattern) values ('fulfillment', 'F-{n}'), ('fulfillment_order', 'FO-{n}')
    on conflict (technical_name) do nothing;
  insert into erp.shipping_method (technical_name, name) values ('parcel', '{"en-GB": "Parcel", "de-DE": "Paket"}');
  update erp.bin_location set position = case code when 'A-2' then 1 when 'A-1' then 5 end;
  insert into erp.bin_location (warehouse_id, code) select id, v.code from erp.warehouse,
    (values ('C-2'), ('C-1')) v (code) where warehouse.code = 'hall'`;

const movement =
  "id quantity processTypeTechnicalName sourceBinLocation { code } sourceWarehouse { code } sourceOrderId " +
  "destinationBinLocation { code } destinationWarehouse { code } destinationOrderId product { productNumber }";
const fulfillmentOrder = "fulfillmentOrder { id state isPartiallyFulfilled }";
const fulfillmentOrders = "fulfillmentOrders { id number state }";

const payloads: Record<string, string> = {
  orderShipmentComplete: `order { id state deliveryState } fulfillments { id number state } ${fulfillmentOrders} stockMovements { ${movement} } documents { id }`,
  fulfillmentCreate: `fulfillment { id number state } ${fulfillmentOrder} stockMovements { ${movement} }`,
  fulfillmentCancel: `fulfillment { id number state } ${fulfillmentOrders} stockMovements { ${movement} }`,
};

export async function openShippingShop(options: ServiceOptions = {}): Promise<ShippingShop> {
  const shop = await openShop(options);
  await shop.owner.query(rows);
  const { rows: bins } = await shop.owner.query("select code, id from erp.bin_location");
  for (const { code, id } of bins) shop.id[code] = `gid://service/BinLocation/${id}`;
  const all = await shop.token();
  let orders = 0;

  const sql = async (text: string, ...ids: string[]): Promise<any[]> =>
    (await shop.owner.query(text, ids.map(uuidOf))).rows;
  const make = async (type: string, text: string, values: unknown[]) => {
    const { rows } = await shop.owner.query(text, values);
    return `gid://service/${type}/${rows[0].id}`;
  };
  const read: ShippingShop["read"] = async (query, variables) => {
    const { body, text } = await shop.ask(all, { query, variables });
    assert.equal(body.errors, undefined, text);
    return body.data;
  };
  const call = (name: string) => async (input: object) => {
    const { body, text } = await shop.tryMutate(name, input, { select: payloads[name]! });
    assert.equal(body.errors, undefined, `${text} ${JSON.stringify(shop.log.at(-1))}`);
    return body.data[name];
  };

  return {
    ...shop,
    sql,
    read,
    ship: (order, rest = {}) => call("orderShipmentComplete")({ orderId: order.id, ...rest }),
    fulfill: ({ id }, rest = {}) => call("fulfillmentCreate")({ fulfillmentOrderId: id, ...rest }),
    cancel: (id, rest = {}) => call("fulfillmentCancel")({ id, ...rest }),
    async order(lines, assignments = [], { state = "open", deliveryState = "open" } = {}) {
      const number = `O-${++orders}`;
      const order = await make(
        "Order",
        `insert into erp.sales_order (order_number, currency_id, state, delivery_state, shipping_method_id, shipping_address)
         select $1, c.id, $2, $3, m.id, '{"city": "Lyon"}' from erp.currency c, erp.shipping_method m where c.is_default_currency returning id`,
        [number, state, deliveryState],
      );
      const made: ShopOrder = { id: order, lines: [], fulfillmentOrders: [] };
      for (const [index, line] of lines.entries()) {
        const { product, quantity, type = "product", shipped = 0, price = 1, taxRate = null } = line;
        made.lines.push(
          await make(
            "OrderLineItem",
            `insert into erp.sales_order_line_item (order_id, product_id, type, identifier, label, position, quantity, shipped_quantity, unit_price, total_price, tax_rate)
             values ($1, $2, $3, $4, $4, $5, $6::int, $7, $8::numeric, $6::int * $8::numeric, $9) returning id`,
            [
              uuidOf(order),
              product === undefined ? null : uuidOf(shop.id[product]!),
              type,
              product ?? type,
              index + 1,
              quantity,
              shipped,
              price,
              taxRate,
            ],
          ),
        );
      }
      for (const [index, assignment] of assignments.entries()) {
        const { location = "hall", state = "Open", type = "WarehouseLocationToOrder" } = assignment;
        const id = await make(
          "FulfillmentOrder",
          `insert into erp.fulfillment_order (number, type, state, state_before_hold, destination_order_id, source_warehouse_location_id)
           values ($1, $2, $3, $4, $5, (select l.id from erp.location l join erp.warehouse w on w.id = l.warehouse_id where w.code = $6 and $2 <> 'ExternalToOrder'))
           returning id`,
          [
            `${number}-${index + 1}`,
            type,
            state,
            state === "OnHold" ? "Open" : null,
            uuidOf(order),
            location,
          ],
        );
        const assigned = [];
        for (const [line, quantity] of assignment.lines)
          assigned.push(
            await make(
              "FulfillmentOrderLineItem",
              `insert into erp.fulfillment_order_line_item (fulfillment_order_id, destination_order_line_item_id, product_id, quantity)
               select $1, id, product_id, $3 from erp.sales_order_line_item where id = $2 returning id`,
              [uuidOf(id), uuidOf(made.lines[line]!), quantity],
            ),
          );
        made.fulfillmentOrders.push({ id, lines: assigned });
      }
      return made;
    },
    async store(product, place, delta, batch) {
      const key = place.includes("-") ? "binLocationId" : "warehouseId";
      const line = {
        productId: shop.id[product],
        place: { [key]: shop.id[place] },
        delta,
        batchId: batch && shop.id[batch],
      };
      const { userErrors } = await shop.mutate("stockAdjust", { lines: [line] });
      assert.deepEqual(userErrors, []);
    },
    async stateOf({ id }) {
      const query = `query ($id: ID!) { order(id: $id) { state deliveryState trackingCodes
        lineItems(first: 250) { edges { node { shippedQuantity } } }
        fulfillmentOrders(first: 250) { edges { node { state isPartiallyFulfilled } } } } }`;
      const { order } = await read(query, { id });
      const nodes = (list: any) => list.edges.map(({ node }: any) => node);
      return {
        state: order.state,
        deliveryState: order.deliveryState,
        shipped: nodes(order.lineItems).map(({ shippedQuantity }: any) => shippedQuantity),
        fulfillmentOrders: nodes(order.fulfillmentOrders).map(({ state, isPartiallyFulfilled }: any) => [
          state,
          isPartiallyFulfilled,
        ]),
        trackingCodes: order.trackingCodes,
      };
    },
    moves: ({ stockMovements }) =>
      stockMovements.map((move: any) => [
        move.quantity,
        move.sourceBinLocation?.code ?? move.sourceWarehouse?.code ?? "order",
        move.destinationBinLocation?.code ?? move.destinationWarehouse?.code ?? "order",
        move.processTypeTechnicalName,
      ]),
  };
}
