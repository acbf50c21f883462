import assert from "node:assert/strict";
import { uuidOf } from "./ids.ts";
import type { ShippingShop } from "./shipping-shop.ts";

/** A line of stockReserve: a product, a place, a number of units, and what else the line names. */
export type Wanted = [product: string, place: string, quantity: number, rest?: object];

/** Selected fields of the payloads of stockReserve and stockRelease. */
export const reservationFields =
  "stockReservations { id quantity openQuantity state missingQuantity } warnings { code }";

/** Calls about reservations, by short names. */
export function reservingIn(shop: ShippingShop) {
  const place = (name: string) => ({
    [name.includes("-") ? "binLocationId" : "warehouseId"]: shop.id[name],
  });
  const inputOf = (lines: Wanted[], rest: object = {}) => ({
    lines: lines.map(([product, name, quantity, more]) => ({
      productId: shop.id[product],
      place: place(name),
      quantity,
      ...more,
    })),
    ...rest,
  });
  const tryReserve = (lines: Wanted[], rest?: object, options: object = {}) =>
    shop.mutate("stockReserve", inputOf(lines, rest), { select: reservationFields, ...options });
  return {
    inputOf,
    tryReserve,
    /** Reserves units, and returns the reservation. */
    async reserve(...[product, name, quantity, more]: Wanted): Promise<string> {
      const payload = await tryReserve([[product, name, quantity, more]]);
      assert.deepEqual(payload.userErrors, []);
      return payload.stockReservations[0].id;
    },
    release: (...lines: { id: string; quantity?: number }[]) =>
      shop.mutate("stockRelease", { lines }, { select: reservationFields }),
    /** Returns the open units and the state of reservations. */
    async kept(...reservations: string[]): Promise<string[]> {
      return Promise.all(
        reservations.map(async (id) => {
          const { stockReservation: found } = await shop.read(
            `{ stockReservation(id: "${id}") { openQuantity state missingQuantity } }`,
          );
          if (found === null) return "gone";
          const missing = found.missingQuantity > 0 ? `, ${found.missingQuantity} missing` : "";
          return `${found.openQuantity} ${found.state}${missing}`;
        }),
      );
    },
    /** Returns what is reserved of a product: in all, and in a warehouse, and what is available there. */
    async figures(product: string, warehouse = "hall") {
      const [row] = await shop.sql(
        `select p.reserved_stock as reserved, p.available_stock as available,
           s.reserved_quantity as "reservedThere", s.available_quantity as "availableThere"
         from erp.product p left join ledger.warehouse_stock s on s.product_id = p.id and s.warehouse_id = $2
         where p.id = $1`,
        shop.id[product]!,
        shop.id[warehouse]!,
      );
      return row as Record<"reserved" | "available" | "reservedThere" | "availableThere", number>;
    },
    /** Makes a product of its own, with units in a place. */
    async newProduct(name: string, place = "A-1", quantity = 10): Promise<string> {
      const [row] = await shop.sql(
        `insert into erp.product (product_number) values ('${name}') returning 'gid://service/Product/' || id as id`,
      );
      shop.id[name] = row.id;
      if (quantity > 0) await shop.store(name, place, quantity);
      return name;
    },
    /** Lets reservations expire, as if their time were over. */
    outdate: (...reservations: string[]) =>
      shop.owner.query(
        "update erp.stock_reservation set expires_at = now() - interval '1 second' where id = any ($1)",
        [reservations.map(uuidOf)],
      ),
  };
}
