import assert from "node:assert/strict";
import { uuidOf } from "./ids.ts";
import type { ShippingShop } from "./shipping-shop.ts";

/** A proposal as tests read it. */
export interface Proposal {
  rank: number;
  reason: string;
  quantity: number;
  unitPrice: string | null;
  orderUntil: string | null;
  runsOutOn: string | null;
  position: number;
  stock: number;
  heldQuantity: number;
  promisedQuantity: number;
  safetyStock: number;
  onOrderQuantity: number;
  returningQuantity: number;
  reorderPoint: number | null;
  fillUpTo: number;
  minPurchase: number | null;
  purchaseSteps: number | null;
  leadTimeDays: number | null;
  shippedQuantity: number;
  spansWarehouses: boolean;
  productId: string;
  product: { productNumber: string };
  warehouse: { code: string };
  supplier: { number: string } | null;
  currency: { isoCode: string } | null;
}

const fields = `rank reason quantity unitPrice orderUntil runsOutOn position stock heldQuantity promisedQuantity safetyStock
  onOrderQuantity returningQuantity reorderPoint fillUpTo minPurchase purchaseSteps leadTimeDays shippedQuantity spansWarehouses
  productId product { productNumber } warehouse { code } supplier { number } currency { isoCode }`;

/** Terms at which a supplier sells a product. */
export interface Terms {
  min?: number;
  steps?: number;
  days?: number | null;
  isDefault?: boolean;
  prices?: Record<string, number>;
}

/** Calls about reordering, by short names. */
export function reorderingIn(shop: ShippingShop) {
  /** Reads all proposals, in pages. The filter has ids of arguments, and days. */
  const proposals = async (filter: object = {}, pageSize = 250): Promise<Proposal[]> => {
    const query = `query ($warehouseId: ID, $supplierId: ID, $productId: ID, $days: Int, $first: Int, $after: String) {
      reorderProposals(warehouseId: $warehouseId, supplierId: $supplierId, productId: $productId, days: $days, first: $first, after: $after) {
        edges { node { ${fields} } } pageInfo { hasNextPage endCursor } } }`;
    const found: Proposal[] = [];
    for (let after: string | null = null; ;) {
      const { reorderProposals } = await shop.read(query, { days: 90, ...filter, first: pageSize, after });
      found.push(...reorderProposals.edges.map(({ node }: any) => node));
      if (!reorderProposals.pageInfo.hasNextPage) return found;
      after = reorderProposals.pageInfo.endCursor;
    }
  };
  return {
    proposals,
    /** Reads the proposals of a product. */
    of: (product: string) => proposals({ productId: shop.id[product] }),
    /** Makes a product of its own. The fields are columns of erp.product. */
    async newProduct(name: string, columns: Record<string, unknown> = {}): Promise<string> {
      const names = Object.keys(columns);
      const { rows } = await shop.owner.query(
        `insert into erp.product (product_number${names.map((column) => `, ${column}`).join("")})
         values ($1${names.map((_, index) => `, $${index + 2}`).join("")}) returning 'gid://service/Product/' || id as id`,
        [name, ...Object.values(columns)],
      );
      shop.id[name] = rows[0].id;
      return name;
    },
    /** Sets when a product is to be refilled in a warehouse. */
    async rule(product: string, warehouse: string, input: object): Promise<void> {
      const { userErrors } = await shop.mutate("productWarehouseConfigurationSet", {
        productId: shop.id[product],
        warehouseId: shop.id[warehouse],
        ...input,
      });
      assert.deepEqual(userErrors, []);
    },
    /** Lets a supplier sell a product. */
    async sell(supplier: string, product: string, terms: Terms = {}): Promise<void> {
      const { min = 1, steps = 1, days = null, isDefault = false, prices = {} } = terms;
      const { rows } = await shop.owner.query(
        `insert into erp.product_supplier_configuration (product_id, supplier_id, min_purchase, purchase_steps, delivery_time_days, supplier_is_default)
         values ($1, $2, $3, $4, $5, $6) returning id`,
        [uuidOf(shop.id[product]!), uuidOf(shop.id[supplier]!), min, steps, days, isDefault],
      );
      for (const [currency, net] of Object.entries(prices))
        await shop.owner.query(
          "insert into erp.product_supplier_price (product_supplier_configuration_id, currency_id, net, gross) values ($1, $2, $3, $3)",
          [rows[0].id, uuidOf(shop.id[currency]!), net],
        );
    },
    /** Makes a supplier of its own. */
    async newSupplier(name: string, columns: Record<string, unknown> = {}): Promise<string> {
      const names = Object.keys(columns);
      const { rows } = await shop.owner.query(
        `insert into erp.supplier (number, name${names.map((column) => `, ${column}`).join("")})
         values ($1, $1${names.map((_, index) => `, $${index + 2}`).join("")}) returning 'gid://service/Supplier/' || id as id`,
        [name, ...Object.values(columns)],
      );
      shop.id[name] = rows[0].id;
      return name;
    },
    /** Returns the line that orders a product as it is proposed. */
    line: (product: string, warehouse: string, quantity: number, onOrderQuantity = 0, rest: object = {}) => ({
      ...{ productId: shop.id[product], warehouseId: shop.id[warehouse], quantity, onOrderQuantity, ...rest },
    }),
    /** Orders proposals. */
    order: (lines: object[], rest: object = {}, options: object = {}) =>
      shop.mutate(
        "supplierOrdersCreateFromProposals",
        { lines, ...rest },
        {
          select: `supplierOrders { id number state comment supplier { number } warehouse { code } currency { isoCode } amountNet
            lineItems { edges { node { quantity unitPrice product { productNumber } } } } } warnings { code field details }`,
          ...options,
        },
      ),
  };
}

/** Returns orders in short: supplier, warehouse, currency and lines. */
export const ordersInShort = ({ supplierOrders }: any): string[] =>
  supplierOrders.map(({ supplier, warehouse, currency, lineItems }: any) => {
    const lines = lineItems.edges.map(({ node }: any) => `${node.quantity} ${node.product.productNumber}`);
    return `${supplier.number} to ${warehouse.code} in ${currency.isoCode}: ${lines.join(", ")}`;
  });
