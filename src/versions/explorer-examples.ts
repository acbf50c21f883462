/** Operations to begin with, by topic. Each is valid in every version. */
export interface Example {
  topic: string;
  title: string;
  query: string;
}

export const examples: readonly Example[] = [
  {
    topic: "Orders",
    title: "An order with its lines",
    query: `{
  orders(first: 1, filter: { amountTotal: { gt: 400 } }) {
    edges { node {
      orderNumber deliveryState amountTotal
      lineItems(first: 1) { edges { node { quantity label product { availableStock } } } }
    } }
  }
}`,
  },
  {
    topic: "Orders",
    title: "Orders, page by page",
    query: `# Pass endCursor as $after, under Variables, for the next page
query Orders($after: String) {
  orders(first: 5, after: $after) {
    pageInfo { hasNextPage endCursor }
    edges { node { id orderNumber orderDateTime amountTotal } }
  }
}`,
  },
  {
    topic: "Stock",
    title: "Products running low",
    query: `query ProductsThatRunOut {
  products(first: 10, filter: { availableStock: { lt: 5 } }) {
    edges { node { id productNumber name availableStock } }
  }
}`,
  },
  {
    topic: "Stock",
    title: "Stock in each warehouse",
    query: `query Warehouses {
  warehouses(first: 3) {
    edges { node {
      name code
      warehouseStocks(first: 5) { edges { node { quantity product { productNumber } } } }
    } }
  }
}`,
  },
  {
    topic: "Stock",
    title: "Movements, oldest first",
    query: `query Movements {
  stockMovements(first: 5) {
    pageInfo { endCursor }
    edges { node {
      createdAt quantity product { productNumber }
      sourceLocationTypeTechnicalName destinationLocationTypeTechnicalName
    } }
  }
}`,
  },
  {
    topic: "Shipping",
    title: "Fulfillment orders to pick",
    query: `query ToBePicked {
  fulfillmentOrders(first: 5, filter: { state: { in: [Open, InProgress] } }) {
    edges { node {
      number state shippingMethodName
      lineItems(first: 5) { edges { node { quantity product { productNumber } } } }
    } }
  }
}`,
  },
  {
    topic: "Purchasing",
    title: "Orders to suppliers",
    query: `query SupplierOrders {
  supplierOrders(first: 5) {
    edges { node { number state deliveryDate supplier { name } amountTotal currency { isoCode } } }
  }
}`,
  },
  {
    topic: "Writing",
    title: "A new warehouse (validated only)",
    query: `mutation CheckWarehouse {
  warehouseCreate(input: { name: "Hafenlager", code: "HAFEN", validateOnly: true }) {
    warehouse { id }
    userErrors { code message field }
  }
}`,
  },
];
