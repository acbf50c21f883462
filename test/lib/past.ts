import assert from "node:assert/strict";
import { sequence } from "../events/support.ts";
import type { ShippingShop } from "./shipping-shop.ts";

/** A number of the ledger, or a moment. */
export type Past = { sequence: number } | { moment: string };

/** The past of a shop. */
export interface PastOfShop {
  /** Numbers what was booked, and returns the newest number. */
  number(): Promise<number>;
  /** Returns the present moment, by the clock of the database, to the microsecond. */
  now(): Promise<string>;
  /** Closes the ledger after at most this many movements each, and returns how many closings there are. */
  close(most: number): Promise<number>;
  /** Books units of a product, of a batch if one is given. */
  adjust(product: string, place: string, delta: number, batch?: string): Promise<void>;
  move(product: string, source: string, destination: string, quantity: number, batch?: string): Promise<void>;
  /** Counts stock: now, or at an earlier moment. Returns the codes of warnings. */
  count(
    product: string,
    place: string,
    quantity: number,
    countedAt?: string,
    batch?: string,
  ): Promise<string[]>;
  /** Returns the units of a product in all warehouses. */
  ofProduct(product: string, past: Past): Promise<number>;
  ofBatch(batch: string, past: Past): Promise<number>;
  /** Returns the units of a product in a bin or in a warehouse outside of bins; null if it has no row. */
  inPlace(product: string, place: string, past: Past): Promise<number | null>;
  /** Returns the units of a product in a warehouse, with its bins; null if it has no row. */
  inWarehouse(product: string, warehouse: string, past: Past): Promise<number | null>;
}

export function pastOf(shop: ShippingShop): PastOfShop {
  const givenOf = (past: Past): string => {
    const [[name, value]] = Object.entries(past) as [[string, number | string]];
    return `${name}: ${JSON.stringify(value)}`;
  };
  const quantityOf = (list: any): number | null => list.edges[0]?.node.quantityAsOf ?? null;
  const batchOf = (batch?: string) => (batch === undefined ? {} : { batchId: shop.id[batch] });
  const read = async (id: string, query: string): Promise<any> => shop.read(query, { id });
  return {
    async number() {
      await sequence(shop.owner);
      const [row] = await shop.sql(
        "select coalesce(max(sequence), 0)::float8 as newest from ledger.movement_sequence",
      );
      return row.newest;
    },
    now: () => shop.ago("0"),
    async close(most) {
      // The month of the bookings has not ended, so only their number counts
      while ((await shop.sql(`select ledger.close_next(${most}) as closed`))[0].closed);
      return (await shop.sql("select count(*)::int as count from ledger.closing"))[0].count;
    },
    async adjust(product, place, delta, batch) {
      await shop.store(product, place, delta, batch);
    },
    async move(product, source, destination, quantity, batch) {
      const line = shop.move(product, source, destination, { quantity, ...batchOf(batch) });
      assert.deepEqual((await shop.mutate("stockTransfer", { lines: [line] })).userErrors, []);
    },
    async count(product, place, quantity, countedAt, batch) {
      const line = shop.line(product, place, { quantity, countedAt, ...batchOf(batch) });
      const payload = await shop.mutate("stockSet", { lines: [line] }, { select: "warnings { code }" });
      assert.deepEqual(payload.userErrors, []);
      return payload.warnings.map(({ code }: any) => code);
    },
    async ofProduct(product, past) {
      const query = `query ($id: ID!) { product(id: $id) { physicalStockAsOf(${givenOf(past)}) } }`;
      return (await read(shop.id[product]!, query)).product.physicalStockAsOf;
    },
    async ofBatch(batch, past) {
      const query = `query ($id: ID!) { batch(id: $id) { physicalStockAsOf(${givenOf(past)}) } }`;
      return (await read(shop.id[batch]!, query)).batch.physicalStockAsOf;
    },
    async inPlace(product, place, past) {
      const key = place.includes("-") ? "binLocationId" : "warehouseId";
      const query = `query ($id: ID!, $place: ID!) { product(id: $id) { stocks(filter: { ${key}: { equals: $place } }) {
        edges { node { quantityAsOf(${givenOf(past)}) } } } } }`;
      const { product: found } = await shop.read(query, { id: shop.id[product], place: shop.id[place] });
      return quantityOf(found.stocks);
    },
    async inWarehouse(product, warehouse, past) {
      const query = `query ($id: ID!, $place: ID!) { product(id: $id) { warehouseStocks(filter: { warehouseId: { equals: $place } }) {
        edges { node { quantityAsOf(${givenOf(past)}) } } } } }`;
      const { product: found } = await shop.read(query, { id: shop.id[product], place: shop.id[warehouse] });
      return quantityOf(found.warehouseStocks);
    },
  };
}

/** Moves a bin to another warehouse, as an operator does in SQL. */
export const moveBin = (shop: ShippingShop, bin: string, warehouse: string): Promise<any[]> =>
  shop.sql("update erp.bin_location set warehouse_id = $2 where id = $1", shop.id[bin]!, shop.id[warehouse]!);
