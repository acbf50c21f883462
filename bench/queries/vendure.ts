import type { Adapter } from "../contestants/contestant.ts";
import { dataOf } from "../contestants/contestant.ts";
import type { PreparedRequest } from "../measure/load.ts";
import type { ReadName } from "./reads.ts";
import type { WriteCall } from "./writes.ts";
import { setStockRequest } from "./writes.ts";

const path = "/admin-api";

/** The queries in the GraphQL of Vendure's admin API, where our product is a variant. */
const documents: Partial<Record<ReadName, string>> = {
  A: `query A($id: ID!) {
    productVariant(id: $id) { id sku name customFields { gtin } stockLevels { stockOnHand stockAllocated } }
  }`,
  B: `query B($prefix: String!) {
    productVariants(options: { take: 10, sort: { id: ASC }, filter: { sku: { contains: $prefix } } }) {
      items { id sku name stockLevels { stockOnHand stockAllocated } } totalItems
    }
  }`,
};

interface Variant {
  id: string;
  sku: string;
  name: string;
  customFields: { gtin: string | null };
  /** By location, of which there is one. */
  stockLevels: [{ stockOnHand: number; stockAllocated: number }];
}

/** Prepares requests for Vendure. */
export async function makeVendureAdapter(): Promise<Adapter> {
  return {
    ask: (query, variables) => ({ path, body: { query: documents[query], variables } }),
    read(query, body) {
      const data = dataOf(body) as { productVariant: Variant } & {
        productVariants: { items: Variant[]; totalItems: number };
      };
      if (query === "A") {
        const { stockOnHand: physicalStock } = data.productVariant.stockLevels[0];
        return {
          product: {
            ...productOf(data.productVariant),
            gtin: data.productVariant.customFields.gtin,
            physicalStock,
          },
        };
      }
      const { items, totalItems } = data.productVariants;
      const edges = items.map((variant) => ({ node: productOf(variant) }));
      return { products: { edges, pageInfo: { hasNextPage: totalItems > items.length } } };
    },
  };
}

function productOf({ id, sku, name, stockLevels: [{ stockOnHand, stockAllocated }] }: Variant) {
  return { id, productNumber: sku, name: name || null, availableStock: stockOnHand - stockAllocated };
}

const setStock = `mutation W($id: ID!, $stock: Int!) {
  updateProductVariants(input: [{ id: $id, stockOnHand: $stock }]) { id stockLevels { stockOnHand } }
}`;

/** Sets the stock of a product. Vendure can't change stock by an amount. */
export function writeToVendure(call: WriteCall): PreparedRequest {
  return setStockRequest(
    call,
    (id, stock) => ({ path, body: { query: setStock, variables: { id, stock } } }),
    (body) => {
      const { updateProductVariants } = dataOf(body) as { updateProductVariants: [Variant] };
      return updateProductVariants[0].stockLevels[0].stockOnHand;
    },
  );
}
