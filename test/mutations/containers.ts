import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "node:test";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";

const container =
  "stockContainer { id number kind sscc warehouseId binLocation { code } fulfillmentOrderId updatedAt }";
const select = `${container} warnings { code field details }`;

/** An SSCC of the nth container of a made-up company. */
export function sscc(nth: number): string {
  const digits = `395210000${String(nth).padStart(8, "0")}`;
  const sum = [...digits].reduce((sum, digit, at) => sum + Number(digit) * (at % 2 === 0 ? 3 : 1), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** Calls about containers in a shop that has no stock before each test, and right books after it. */
export function useContainers() {
  const used = {} as { shop: ShippingShop };
  let nth = 0;
  before(async () => {
    used.shop = await openShippingShop({ poolSize: 20 });
  });
  after(() => used.shop.close());
  beforeEach(async () => {
    await used.shop.sql("delete from erp.fulfillment_order");
    await used.shop.sql("delete from erp.sales_order");
    await used.shop.empty();
    await used.shop.sql("update erp.bin_location set stock_state = 'sellable'");
  });
  afterEach(() => assertLedgerIsRight(used.shop));

  const create = (input: object, options: object = {}) =>
    used.shop.mutate(
      "stockContainerCreate",
      { kind: "tote", warehouseId: used.shop.id.hall, ...input },
      { select, ...options },
    );
  const calls = {
    create,
    change: (id: string, input: object) =>
      used.shop.mutate("stockContainerUpdate", { id, ...input }, { select }),
    move: (id: string, input: object, options: object = {}) =>
      used.shop.mutate("stockContainerMove", { id, ...input }, { select, ...options }),
    remove: (id: string) =>
      used.shop.mutate("stockContainerDelete", { id }, { select: "deletedStockContainerId" }),
    /** A code that no other container has. */
    number: () => `T-${++nth}`,
    /** A new container in the hall; its id. */
    async tote(input: object = {}): Promise<string> {
      const payload = await create({ number: calls.number(), ...input });
      assert.deepEqual(payload.userErrors, []);
      return payload.stockContainer.id;
    },
    /** A place of the input, by the short name of a bin or warehouse, or the id of a container. */
    at: (place: string) =>
      place.startsWith("gid:")
        ? { stockContainerId: place }
        : { [place.includes("-") ? "binLocationId" : "warehouseId"]: used.shop.id[place] },
    send(product: string, source: string, destination: string, quantity: number, options: object = {}) {
      const places = { source: calls.at(source), destination: calls.at(destination) };
      const lines = [{ productId: used.shop.id[product], ...places, quantity }];
      return used.shop.mutate("stockTransfer", { lines }, { select: "warnings { code }", ...options });
    },
    async pack(product: string, place: string, quantity: number, batch?: string) {
      const { id } = used.shop;
      const lines = [
        { productId: id[product], place: calls.at(place), delta: quantity, batchId: batch && id[batch] },
      ];
      assert.deepEqual((await used.shop.mutate("stockAdjust", { lines })).userErrors, []);
    },
    /** Figures of a product: physical, not for sale; in the hall: quantity, held, available. */
    async figures(product: string): Promise<(number | null)[]> {
      const [row] = await used.shop.sql(
        `select array[p.physical_stock, p.stock_not_available_for_sale, s.quantity, s.held_quantity, s.available_quantity] as figures
         from erp.product p left join ledger.warehouse_stock s on s.product_id = p.id
           and s.warehouse_id = (select id from erp.warehouse where code = 'hall') where p.id = $1`,
        used.shop.id[product]!,
      );
      return row.figures;
    },
  };
  return { used, ...calls };
}
