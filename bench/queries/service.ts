import { encodeCursor } from "../../src/graphql/cursor.ts";
import { encodeGlobalId } from "../../src/graphql/global-id.ts";
import type { PreparedRequest } from "../measure/load.ts";
import type { ContestantRequest, Parameters, ReadName } from "./reads.ts";
import type { WriteCall } from "./writes.ts";
import { booksAll, withKey } from "./writes.ts";

/** The queries in the GraphQL of the service. */
const serviceDocuments: Record<ReadName, string> = {
  A: `query A($id: ID!) { product(id: $id) { id productNumber name gtin physicalStock availableStock } }`,
  B: `query B($prefix: String!) {
    products(first: 10, filter: { productNumber: { startsWith: $prefix } }) {
      edges { node { id productNumber name availableStock } } pageInfo { hasNextPage }
    }
  }`,
  C: `query C($after: String!) {
    orders(first: 20, after: $after) { edges { node {
      id orderNumber orderDateTime amountTotal currency { isoCode }
      lineItems(first: 5) { edges { node { id quantity unitPrice product { id productNumber name } } } }
    } } }
  }`,
  D: `query D($after: String!) {
    stockMovements(first: 100, after: $after) { edges { node {
      id quantity createdAt
      product { id productNumber name }
      sourceWarehouse { id code } destinationWarehouse { id code }
      sourceBinLocation { id code } destinationBinLocation { id code }
    } } }
  }`,
  E: `query E($after: String!) {
    stockMovements(first: 20, after: $after) {
      edges { node { id quantity createdAt processTypeTechnicalName productId } } pageInfo { hasNextPage }
    }
  }`,
  F: `query F($product: ID!, $order: ID!) {
    product(id: $product) { id productNumber name }
    order(id: $order) { id orderNumber state amountTotal }
    warehouses(first: 3) { edges { node { id code name } } }
    currencies(first: 5) { edges { node { id isoCode } } }
  }`,
  G: `query G($prefix: String!, $gtin: String!, $manufacturerNumber: String!) {
    products(first: 10, filter: { OR: [
      { productNumber: { startsWith: $prefix } } { gtin: { equals: $gtin } }
      { manufacturerNumber: { equals: $manufacturerNumber } }
    ] }) { edges { node { id productNumber name gtin manufacturerNumber } } }
  }`,
  H: `query H($after: String!) {
    products(first: 20, after: $after) { edges { node {
      id tags(first: 5) { edges { node { id name } } }
    } } }
  }`,
  I: `query I($state: String!, $till: DateTime!) {
    orders(first: 20, orderBy: ORDER_DATE_TIME_DESC, filter: { state: { equals: $state }, orderDateTime: { before: $till } }) {
      edges { node { id orderNumber orderDateTime amountTotal } } pageInfo { hasNextPage }
    }
  }`,
  J: `query J($since: DateTime!, $till: DateTime!) {
    orders(filter: { orderDateTime: { after: $since, before: $till } }) {
      aggregates { sum { amountTotal } max { amountTotal } }
      groupedAggregates(groupBy: [STATE]) { keys sum { amountTotal } }
    }
  }`,
  K: `query K($product: ID!) {
    orders(first: 20, filter: { lineItems: { some: { productId: { equals: $product } } } }) {
      edges { node { id orderNumber state } } pageInfo { hasNextPage }
    }
  }`,
};

/** The list that a position belongs to. */
export const pagedLists = { C: "orders", D: "stockMovements", E: "stockMovements", H: "products" } as const;

/** Returns the variables of a query for the service. */
function variablesOf(query: ReadName, parameters: Parameters): Record<string, string> {
  const { id, product, order, after } = parameters;
  if (query === "K") return { product: encodeGlobalId("Product", product!) };
  if (query === "A") return { id: encodeGlobalId("Product", id!) };
  if (query === "F")
    return { product: encodeGlobalId("Product", product!), order: encodeGlobalId("Order", order!) };
  if (query in pagedLists)
    return { after: encodeCursor(`Query.${pagedLists[query as keyof typeof pagedLists]}`, after!) };
  return parameters;
}

export function askService(query: ReadName, parameters: Parameters): ContestantRequest {
  return {
    path: "/api/graphql/unstable",
    body: { query: serviceDocuments[query], variables: variablesOf(query, parameters) },
  };
}

const adjust = `mutation W($input: StockAdjustInput!) {
  stockAdjust(input: $input) { stockMovements { id } userErrors { code message } }
}`;
const reserve = `mutation W($input: StockReserveInput!) {
  stockReserve(input: $input) { stockReservations { id } userErrors { code message } }
}`;
const shipComplete = `mutation W($input: OrderShipmentCompleteInput!) {
  orderShipmentComplete(input: $input) { order { id } stockMovements { id } userErrors { code message } }
}`;

interface Written {
  stockMovements?: unknown[];
  stockReservations?: unknown[];
  userErrors: unknown[];
}

export function writeToService(call: WriteCall): PreparedRequest {
  const query = "ship" in call ? shipComplete : call.isReserved ? reserve : adjust;
  const input =
    "ship" in call
      ? { orderId: encodeGlobalId("Order", call.ship) }
      : {
          lines: call.more.map(({ product, bin }) => ({
            productId: encodeGlobalId("Product", product),
            place: { binLocationId: encodeGlobalId("BinLocation", bin) },
            ...(call.isReserved ? { quantity: 1 } : { delta: 1 }),
          })),
        };
  return withKey(
    "/api/graphql/unstable",
    (idempotencyKey) => ({ query, variables: { input: { ...input, idempotencyKey } } }),
    booksAll(call, (body) => {
      const { data } = body as { data: Record<string, Written> };
      const { stockMovements, stockReservations, userErrors } = Object.values(data)[0]!;
      return { userErrors, movements: stockMovements ?? stockReservations ?? null };
    }),
  );
}
