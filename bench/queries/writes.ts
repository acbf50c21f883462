import { randomUUID } from "node:crypto";
import { encodeGlobalId } from "../../src/graphql/global-id.ts";
import type { BenchDatabase } from "../data/database.ts";
import type { PreparedRequest } from "../measure/load.ts";
import { openOrders } from "../data/open-orders.ts";
import { stockedPlaces } from "../data/stocked-places.ts";

/**
 * The contestants in writing: LIMIT has a ledger of its own (`bench/limit/ledger.sql`), the other one is a bare handler
 * that calls the same function as the service. For each other one, mutations would have to be written by hand.
 */
export type Writer = "service" | "limit" | "same-function";

export interface WriteQuery {
  title: string;
  /** Whether each request can be sent only once. */
  once: boolean;
  /**
   * The requests of all rounds.
   *
   * @param count their maximum number
   */
  prepare(database: BenchDatabase, count: number): Promise<Record<Writer, PreparedRequest>[]>;
}

/** @param calls how many different calls there are, at most */
const stockAdjust = (lines: number, calls: number): WriteQuery => ({
  title: `stockAdjust of ${lines === 1 ? "one line" : `${lines} lines`}${calls === 1 ? ", always of the same product" : ""}`,
  once: false,
  async prepare({ adminUrl }, count) {
    const places = await stockedPlaces(adminUrl, Math.min(count, calls) * lines);
    const chunks = Array.from({ length: Math.floor(places.length / lines) }, (_, index) =>
      places.slice(index * lines, (index + 1) * lines),
    );
    return chunks.map((chunk) => ({
      service: toService(
        `mutation W($input: StockAdjustInput!) {
          stockAdjust(input: $input) { stockMovements { id } userErrors { code message } }
        }`,
        {
          lines: chunk.map(({ product, bin }) => ({
            productId: encodeGlobalId("Product", product),
            place: { binLocationId: encodeGlobalId("BinLocation", bin) },
            delta: 1,
          })),
        },
        lines,
      ),
      "same-function": toFunction(
        "stock_adjust",
        {
          lines: chunk.map(({ product, bin }) => ({
            product_id: product,
            place: { bin_location_id: bin },
            delta: 1,
          })),
        },
        lines,
      ),
      limit:
        lines === 1
          ? toLimit("/adjust-one", [chunk[0]!.product, chunk[0]!.bin, "1"], 1)
          : toLimit(
              "/adjust-many",
              [JSON.stringify(chunk.map(({ product, bin }) => ({ product, place: bin, delta: 1 })))],
              lines,
            ),
    }));
  },
});

export const writeQueries: Record<string, WriteQuery> = {
  W1: stockAdjust(1, 1_000),
  W2: stockAdjust(50, 60),
  W3: {
    title: "orderShipmentComplete of open orders, with stock",
    once: true,
    async prepare({ adminUrl }, count) {
      const orders = await openOrders(adminUrl, count);
      return orders.map((id) => ({
        service: toService(
          `mutation W($input: OrderShipmentCompleteInput!) {
            orderShipmentComplete(input: $input) { order { id } stockMovements { id } userErrors { code message } }
          }`,
          { orderId: encodeGlobalId("Order", id) },
        ),
        "same-function": toFunction("order_shipment_complete", { order_id: id }),
        limit: toLimit("/ship", [id]),
      }));
    },
  },
  W4: stockAdjust(1, 1),
};

/** The answers of both, in one form. */
interface WriteAnswer {
  userErrors: unknown[];
  movements: unknown[] | null;
}

/** A request that has a new idempotency key each time it is sent. */
const withKey = (path: string, body: (key: string) => unknown, isRight: PreparedRequest["isRight"]) => ({
  path,
  get body() {
    return JSON.stringify(body(randomUUID()));
  },
  isRight,
});

function toService(query: string, input: object, movements?: number): PreparedRequest {
  return withKey(
    "/api/graphql/unstable",
    (idempotencyKey) => ({ query, variables: { input: { ...input, idempotencyKey } } }),
    rightWhen(movements, (body) => {
      const { data } = body as { data: Record<string, { stockMovements: unknown[]; userErrors: unknown[] }> };
      const { stockMovements, userErrors } = Object.values(data)[0]!;
      return { userErrors, movements: stockMovements };
    }),
  );
}

function toFunction(operation: string, input: unknown, movements?: number): PreparedRequest {
  return withKey(
    "/run",
    (key) => [key, operation, JSON.stringify(input)],
    rightWhen(movements, (body) => {
      const { payload, userErrors } = body as {
        payload: { stock_movements: unknown[] } | null;
        userErrors: unknown[];
      };
      return { userErrors, movements: payload?.stock_movements ?? null };
    }),
  );
}

function toLimit(path: string, values: string[], movements?: number): PreparedRequest {
  return withKey(
    path,
    (key) => [key, ...values],
    rightWhen(movements, (body) => ({
      userErrors: [],
      movements: (body as { movements: unknown[] }).movements,
    })),
  );
}

/**
 * An answer is right if it was not refused, and booked the expected number of movements, or at least one if that isn't
 * known.
 */
function rightWhen(movements: number | undefined, read: (body: unknown) => WriteAnswer) {
  return (status: number, text: Buffer): boolean => {
    if (status !== 200) return false;
    const body = JSON.parse(text.toString()) as { errors?: unknown };
    if (body.errors !== undefined) return false;
    const { userErrors, movements: booked } = read(body);
    return userErrors.length === 0 && booked !== null && booked.length >= (movements ?? 1);
  };
}
