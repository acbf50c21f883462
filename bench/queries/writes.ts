import { randomUUID } from "node:crypto";
import { withClient } from "../../src/postgres/client.ts";
import type { BenchDatabase } from "../data/database.ts";
import { openOrders } from "../data/open-orders.ts";
import type { StockedPlace } from "../data/stocked-places.ts";
import { stockedPlaces } from "../data/stocked-places.ts";
import type { PreparedRequest } from "../measure/load.ts";

/** A mutation in neutral terms: one more unit of some products, in stock or reserved, or an order to ship. */
export type WriteCall = { more: readonly StockedPlace[]; isReserved?: boolean } | { ship: string };

interface WriteQuery {
  title: string;
  /** Whether each call can be made only once. */
  once: boolean;
  /** Makes the calls of all rounds, `count` at most. */
  calls(database: Pick<BenchDatabase, "adminUrl">, count: number): Promise<WriteCall[]>;
}

/** @param most how many different calls there are, at most */
const stockAdjust = (lines: number, most: number): WriteQuery => ({
  title: `stockAdjust of ${lines === 1 ? "one line" : `${lines} lines`}${most === 1 ? ", always of the same product" : ""}`,
  once: false,
  async calls({ adminUrl }, count) {
    const places = await stockedPlaces(adminUrl, Math.min(count, most) * lines);
    return Array.from({ length: Math.floor(places.length / lines) }, (_, index) => ({
      more: places.slice(index * lines, (index + 1) * lines),
    }));
  },
});

export const writeQueries = {
  W1: stockAdjust(1, 1_000),
  W2: stockAdjust(50, 60),
  W3: {
    title: "orderShipmentComplete of open orders, with stock",
    once: true,
    async calls({ adminUrl }, count) {
      return (await openOrders(adminUrl, count)).map((ship) => ({ ship }));
    },
  },
  W4: stockAdjust(1, 1),
  W5: {
    title: "stockReserve of one line",
    once: false,
    async calls(database, count) {
      const calls = await stockAdjust(1, 1_000).calls(database, count);
      // There may be more calls than units
      await withClient(database.adminUrl, (client) =>
        client.query("update erp.product set allows_backorders = true"),
      );
      return calls.map((call) => ({ ...call, isReserved: true }));
    },
  },
} satisfies Record<string, WriteQuery>;

export type WriteName = keyof typeof writeQueries;
export const writeNames = Object.keys(writeQueries) as WriteName[];
/** Those that servers without reservations answer, too. */
export const commonWriteNames = writeNames.filter((name) => name !== "W5");

/** The result of contestants that book movements, in one form. */
interface Booked {
  userErrors: unknown[];
  movements: unknown[] | null;
}

/** Makes a request that has a new idempotency key each time it is sent. */
export const withKey = (
  path: string,
  body: (key: string) => unknown,
  isRight: PreparedRequest["isRight"],
): PreparedRequest => ({
  path,
  get body() {
    return JSON.stringify(body(randomUUID()));
  },
  isRight,
});

/**
 * Checks that a response is no refusal and booked the movements of the call: as many as its lines, or at least one for a
 * shipment.
 */
export function booksAll(call: WriteCall, read: (body: unknown) => Booked): PreparedRequest["isRight"] {
  const least = "ship" in call ? 1 : call.more.length;
  return (status, text) => {
    if (status !== 200) return false;
    const body = JSON.parse(text.toString()) as { errors?: unknown };
    if (body.errors !== undefined) return false;
    const { userErrors, movements } = read(body);
    return userErrors.length === 0 && movements !== null && movements.length >= least;
  };
}

/**
 * Makes a request for a contestant that can't change stock by an amount. It sets the stock of the call's product, each time
 * to another figure, and must return a figure that was sent.
 *
 * @param stockIn reads the stock in a response
 */
export function setStockRequest(
  call: WriteCall,
  request: (product: string, stock: number) => { path: string; body: unknown },
  stockIn: (body: unknown) => number,
): PreparedRequest {
  if ("ship" in call) throw new Error("Only stock can be set.");
  const { product } = call.more[0]!;
  const before = 1_000;
  let stock = before;
  return {
    path: request(product, stock).path,
    get body() {
      return JSON.stringify(request(product, ++stock).body);
    },
    isRight(status, text) {
      if (status !== 200) return false;
      const answered = stockIn(JSON.parse(text.toString()));
      return answered > before && answered <= stock;
    },
  };
}
