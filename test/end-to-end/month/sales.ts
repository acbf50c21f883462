import assert from "node:assert/strict";
import type { Micro } from "../../model/money.ts";
import type { Pile } from "./accounts.ts";
import { sum } from "./accounts.ts";
import type { Merchant } from "./merchant.ts";
import { nodes } from "./merchant.ts";

export interface Line {
  id: string;
  product: string;
  quantity: number;
  shipped: number;
  returned: number;
}
/** Units of an order's lines that one warehouse ships: by the index of the line. */
export interface Assignment {
  id: string;
  warehouse: string;
  lines: { id: string; line: Line; open: number }[];
}
export interface Order {
  number: string;
  id: string;
  channel: string;
  lines: Line[];
  assignments: Assignment[];
  isCancelled: boolean;
  /** Cost of what each parcel took, by its id. */
  costs: Map<string, Micro>;
  /** Batches that were sent, with their units. */
  batches: Map<string, number>;
}

/** The address of all customers. */
export const shippingAddress = {
  firstName: "Ada",
  lastName: "Martin",
  street: "1 Rue",
  zipcode: "69001",
  city: "Lyon",
  country: "FR",
};

const orderFields = `orders { id lineItems(first: 50) { edges { node { id } } } } results { outcome }`;
const assigned = `id sourceWarehouseLocation { warehouse { code } } lineItems(first: 50) { edges { node { id quantity product { productNumber } } } }`;

/** Orders from storefronts: they are planned, shipped in one go or in parts, and cancelled. */
export class Sales {
  readonly orders: Order[] = [];
  readonly #merchant: Merchant;
  readonly #prices: Record<string, number>;

  constructor(merchant: Merchant, prices: Record<string, number>) {
    this.#merchant = merchant;
    this.#prices = prices;
  }

  /** A storefront hands over its new orders in one call, and repeats it. */
  async take(channel: string, wanted: [product: string, quantity: number][][]): Promise<Order[]> {
    const { id, call, accounts } = this.#bound();
    const numbers = wanted.map((_, n) => `${channel}-${this.orders.length + n + 1}`);
    const orders = wanted.map((lines, n) => ({
      orderNumber: numbers[n],
      storefrontId: numbers[n],
      salesChannelId: id[channel],
      customerId: id[`customer ${n % 3}`],
      shippingMethodId: id.parcel,
      shippingAddress,
      taxStatus: "gross",
      lineItems: lines.map(([product, quantity], position) => ({
        storefrontId: `${numbers[n]}/${position}`,
        productNumber: product,
        quantity,
        unitPrice: this.#prices[product],
        taxRate: 19,
      })),
    }));
    const payload = await call("ordersUpsert", { orders }, orderFields);
    const again = await call("ordersUpsert", { orders }, "results { outcome }");
    assert.ok(
      again.results.every(({ outcome }: any) => outcome === "UNCHANGED"),
      "an order changed when it came twice",
    );
    const made = payload.orders.map((order: any, n: number): Order => ({
      number: numbers[n]!,
      id: order.id,
      channel,
      lines: nodes(order.lineItems).map((line, position) => ({
        id: line.id,
        product: wanted[n]![position]![0],
        quantity: wanted[n]![position]![1],
        shipped: 0,
        returned: 0,
      })),
      assignments: [],
      isCancelled: false,
      costs: new Map(),
      batches: new Map(),
    }));
    for (const { lines } of made)
      for (const line of lines) accounts.reserve(line.product, "-", line.quantity);
    this.orders.push(...made);
    return made;
  }

  /** Lets the service choose the warehouses: the hall ships what it has, then the shed, and the hall gets the rest. */
  async plan(order: Order): Promise<void> {
    const { call, accounts } = this.#bound();
    const expected = new Map<string, Map<Line, number>>();
    const give = (warehouse: string, line: Line, units: number) => {
      const its = expected.get(warehouse) ?? new Map<Line, number>();
      if (units > 0) expected.set(warehouse, its.set(line, (its.get(line) ?? 0) + units));
    };
    for (const line of order.lines) {
      let rest = line.quantity;
      for (const warehouse of ["hall", "shed"]) {
        const some = Math.max(0, Math.min(rest, accounts.availableAt(line.product, warehouse)));
        give(warehouse, line, some);
        rest -= some;
      }
      give("hall", line, rest);
    }
    const { fulfillmentOrders } = await call(
      "fulfillmentOrderCreate",
      { orderId: order.id },
      `fulfillmentOrders { ${assigned} }`,
    );
    for (const made of fulfillmentOrders) {
      const warehouse = made.sourceWarehouseLocation.warehouse.code;
      const lines = nodes(made.lineItems).map((one) => {
        const line = order.lines.find(({ product }) => product === one.product.productNumber)!;
        return { id: one.id, line, open: one.quantity };
      });
      for (const { line, open } of lines) {
        const planned = expected.get(warehouse)?.get(line);
        assert.equal(planned, open, `${order.number}: ${line.product} from the ${warehouse}`);
        accounts.reserve(line.product, "-", -open);
        accounts.reserve(line.product, warehouse, open);
      }
      order.assignments.push({ id: made.id, warehouse, lines });
    }
    const units = (some: Map<Line, number>) => sum(some.values(), (one) => one);
    assert.equal(
      sum(order.assignments, ({ lines }) => sum(lines, (one) => one.open)),
      sum(expected.values(), units),
      `${order.number}: units that were planned`,
    );
  }

  /** Notes an order that the service made of a quote. */
  note(
    number: string,
    id: string,
    channel: string,
    lines: { id: string; product: string; quantity: number }[],
  ): Order {
    const order: Order = {
      ...{ number, id, channel },
      lines: lines.map((line) => ({ ...line, shipped: 0, returned: 0 })),
      assignments: [],
      isCancelled: false,
      costs: new Map(),
      batches: new Map(),
    };
    for (const { product, quantity } of lines) this.#merchant.accounts.reserve(product, "-", quantity);
    this.orders.push(order);
    return order;
  }

  /** Ships of each open line of a fulfillment order as many units as are wanted, in one parcel. */
  async ship(
    order: Order,
    assignment: Assignment,
    most: (open: number) => number = (open) => open,
  ): Promise<Pile[]> {
    const { call, accounts } = this.#bound();
    const lines = assignment.lines
      .map(({ id, line, open }) => ({ id, line, quantity: Math.min(most(open), open) }))
      .filter(({ quantity }) => quantity > 0);
    if (lines.length === 0) return [];
    const parcel = order.costs.size + 1;
    const { fulfillment } = await call(
      "fulfillmentCreate",
      {
        fulfillmentOrderId: assignment.id,
        lines: lines.map(({ id, quantity }) => ({ fulfillmentOrderLineItemId: id, quantity })),
        trackingCodes: [`${order.number}/${parcel}`],
      },
      "fulfillment { id }",
    );
    const sent = lines.flatMap(({ line, quantity }) =>
      accounts.pick(line.product, assignment.warehouse, quantity),
    );
    // Each movement is rounded
    let cost = 0n;
    for (const { product, units } of sent) cost += accounts.sell(product, order.number, units);
    for (const { id, line, quantity } of lines) {
      accounts.reserve(line.product, assignment.warehouse, -quantity);
      line.shipped += quantity;
      assignment.lines.find((one) => one.id === id)!.open -= quantity;
    }
    for (const { batch, units } of sent)
      if (batch) order.batches.set(batch, (order.batches.get(batch) ?? 0) + units);
    order.costs.set(fulfillment.id, cost);
    return sent;
  }

  /** Whether a warehouse has what a fulfillment order still needs. */
  canShip({ warehouse, lines }: Assignment): boolean {
    const { accounts } = this.#merchant;
    return lines.every(
      ({ line, open }) =>
        accounts.availableAt(line.product, warehouse) + accounts.reserved(line.product, warehouse) >= open,
    );
  }

  async cancel(order: Order): Promise<void> {
    const { call, accounts } = this.#bound();
    await call("orderCancel", { id: order.id });
    for (const { warehouse, lines } of order.assignments)
      for (const one of lines) {
        accounts.reserve(one.line.product, warehouse, -one.open);
        one.open = 0;
      }
    order.isCancelled = true;
  }

  /** What an order reads like. */
  stateOf({ lines, isCancelled }: Order): [state: string, delivery: string] {
    const [quantity = 0, shipped = 0, returned = 0] = (["quantity", "shipped", "returned"] as const).map(
      (figure) => sum(lines, (line) => line[figure]),
    );
    if (isCancelled) return ["cancelled", "cancelled"];
    const isAll = shipped === quantity;
    const delivery =
      returned > 0
        ? isAll && returned === shipped
          ? "returned"
          : "returned_partially"
        : shipped === 0
          ? "open"
          : isAll
            ? "shipped"
            : "shipped_partially";
    return [isAll ? "completed" : shipped > 0 ? "in_progress" : "open", delivery];
  }

  #bound() {
    const merchant = this.#merchant;
    return { id: merchant.id, accounts: merchant.accounts, call: merchant.call.bind(merchant) };
  }
}
