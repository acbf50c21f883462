import type { Adapter } from "../contestants/contestant.ts";
import type { PreparedRequest } from "../measure/load.ts";
import type { WriteCall } from "./writes.ts";
import { setStockRequest } from "./writes.ts";

/** A variant in Medusa, which corresponds to our product. An inventory item links it to its stock. */
interface Variant {
  id: string;
  sku: string;
  title: string;
  ean: string | null;
  inventory_items: [{ inventory: { stocked_quantity: number; reserved_quantity: number } }];
}

const stock = ["stocked_quantity", "reserved_quantity"].map((field) => `inventory_items.inventory.${field}`);
const select = (...fields: string[]): string => `fields=${fields.join()}`;

/** Prepares requests for Medusa's admin API. */
export async function makeMedusaAdapter(): Promise<Adapter> {
  return {
    ask: (query, { id, prefix }) => ({
      path:
        query === "A"
          ? `/admin/products/prod_${id}/variants/variant_${id}?${select("id", "sku", "title", "ean", ...stock)}`
          : `/admin/product-variants?q=${prefix}&limit=10&order=id&${select("id", "sku", "title", ...stock)}`,
    }),
    read(query, body) {
      if (query === "A") {
        const { variant } = body as { variant: Variant };
        const { stocked_quantity: physicalStock } = variant.inventory_items[0].inventory;
        return { product: { ...productOf(variant), gtin: variant.ean, physicalStock } };
      }
      const { variants, count } = body as { variants: Variant[]; count: number };
      const edges = variants.map((variant) => ({ node: productOf(variant) }));
      return { products: { edges, pageInfo: { hasNextPage: count > variants.length } } };
    },
  };
}

function productOf({ id, sku, title, inventory_items: [{ inventory }] }: Variant) {
  return {
    id: id.replace("variant_", ""),
    productNumber: sku,
    name: title || null,
    availableStock: inventory.stocked_quantity - inventory.reserved_quantity,
  };
}

/** Sets the stock of a product at its only location. Medusa's API can't change stock by an amount. */
export function writeToMedusa(call: WriteCall): PreparedRequest {
  return setStockRequest(
    call,
    (id, stocked_quantity) => ({
      path: `/admin/inventory-items/iitem_${id}/location-levels/sloc_measured?${select("id", "stocked_quantity")}`,
      body: { stocked_quantity },
    }),
    (body) => (body as { inventory_item: { stocked_quantity: number } }).inventory_item.stocked_quantity,
  );
}
