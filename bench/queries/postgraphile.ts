import { findPrefixEnd } from "../../src/reads/filter-operators.ts";
import type { Ask, Adapter } from "../contestants/contestant.ts";
import { dataOf } from "../contestants/contestant.ts";
import type { Parameters, ReadName } from "./reads.ts";
import { pagedLists } from "./service.ts";

const listsOf = (list: string): string => `all${list[0]!.toUpperCase()}${list.slice(1)}`;

const id = "id: rowId";

/** The queries in the GraphQL of PostGraphile 5; tags are many-to-many by @ref and @refVia of the view. */
const documents: Record<ReadName, string> = {
  A: `query A($id: UUID!) { product: productByRowId(rowId: $id) { ${id} productNumber name gtin physicalStock availableStock } }`,
  B: `query B($from: String!, $until: String!) {
    products: allProducts(first: 10, filter: { productNumber: { greaterThanOrEqualTo: $from, lessThan: $until } }) {
      edges { node { ${id} productNumber name availableStock } } pageInfo { hasNextPage }
    }
  }`,
  C: `query C($after: Cursor!) {
    orders: allOrders(first: 20, after: $after) { edges { node {
      ${id} orderNumber orderDateTime amountTotal currency { isoCode }
      lineItems(first: 5) { edges { node { ${id} quantity unitPrice product { ${id} productNumber name } } } }
    } } }
  }`,
  D: `query D($after: Cursor!) {
    stockMovements: allStockMovements(first: 100, after: $after) { edges { node {
      ${id} quantity createdAt
      product { ${id} productNumber name }
      sourceWarehouse { ${id} code } destinationWarehouse { ${id} code }
      sourceBinLocation { ${id} code } destinationBinLocation { ${id} code }
    } } }
  }`,
  E: `query E($after: Cursor!) {
    stockMovements: allStockMovements(first: 20, after: $after) {
      edges { node { ${id} quantity createdAt processTypeTechnicalName productId } } pageInfo { hasNextPage }
    }
  }`,
  F: `query F($product: UUID!, $order: UUID!) {
    product: productByRowId(rowId: $product) { ${id} productNumber name }
    order: orderByRowId(rowId: $order) { ${id} orderNumber state amountTotal }
    warehouses: allWarehouses(first: 3) { edges { node { ${id} code name } } }
    currencies: allCurrencies(first: 5) { edges { node { ${id} isoCode } } }
  }`,
  G: `query G($from: String!, $until: String!, $gtin: String!, $manufacturerNumber: String!) {
    products: allProducts(first: 10, filter: { or: [
      { productNumber: { greaterThanOrEqualTo: $from, lessThan: $until } } { gtin: { equalTo: $gtin } }
      { manufacturerNumber: { equalTo: $manufacturerNumber } }
    ] }) { edges { node { ${id} productNumber name gtin manufacturerNumber } } }
  }`,
  H: `query H($after: Cursor!) {
    products: allProducts(first: 20, after: $after) { edges { node {
      ${id} tags(first: 5) { edges { node { ${id} name } } }
    } } }
  }`,
  I: `query I($state: String!, $till: Datetime!) {
    orders: allOrders(first: 20, orderBy: [ORDER_DATE_TIME_DESC, ROW_ID_DESC],
      filter: { state: { equalTo: $state }, orderDateTime: { lessThan: $till } }) {
      edges { node { ${id} orderNumber orderDateTime amountTotal } } pageInfo { hasNextPage }
    }
  }`,
  J: `query J($since: Datetime!, $till: Datetime!) {
    orders: allOrders(filter: { orderDateTime: { greaterThan: $since, lessThan: $till } }) {
      aggregates { sum { amountTotal } max { amountTotal } }
      groupedAggregates(groupBy: [STATE]) { keys sum { amountTotal } }
    }
  }`,
  K: `query K($product: UUID!) {
    orders: allOrders(first: 20, filter: { lineItems: { some: { productId: { equalTo: $product } } } }) {
      edges { node { ${id} orderNumber state } } pageInfo { hasNextPage }
    }
  }`,
};

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * Finds the format of cursors: they contain the row's id and the list's sort order, in Base64.
 *
 * @returns a function from a row's id to its cursor
 */
async function learnCursors(ask: Ask, list: string): Promise<(id: string) => string> {
  const query = `{ list: ${listsOf(list)}(first: 1) { edges { cursor } } }`;
  const data = dataOf(await ask({ path: "/graphql", body: { query } }));
  const { cursor } = (data as { list: { edges: { cursor: string }[] } }).list.edges[0]!;
  const text = Buffer.from(cursor, "base64").toString();
  if (!uuid.test(text)) throw new Error(`A cursor of ${list} holds no id: ${text}`);
  return (row) => Buffer.from(text.replace(uuid, row)).toString("base64");
}

/** Finds the format of cursors, and prepares requests for PostGraphile. */
export async function makePostgraphileAdapter(ask: Ask): Promise<Adapter> {
  const lists = [...new Set(Object.values(pagedLists))];
  const cursors = new Map(
    await Promise.all(lists.map(async (list) => [list, await learnCursors(ask, list)] as const)),
  );
  const variablesOf = (query: ReadName, parameters: Parameters): Parameters => {
    const { prefix, after, ...others } = parameters;
    if (prefix !== undefined) return { from: prefix, until: findPrefixEnd(prefix)!, ...others };
    if (after !== undefined) {
      const list = pagedLists[query as keyof typeof pagedLists];
      return { after: cursors.get(list)!(after) };
    }
    return others;
  };
  return {
    ask: (query, parameters) => ({
      path: "/graphql",
      body: { query: documents[query], variables: variablesOf(query, parameters) },
    }),
    read: (query, body) => (query === "J" ? groupsInOrder(dataOf(body)) : dataOf(body)),
  };
}

function groupsInOrder(data: unknown): unknown {
  const { orders } = data as { orders: { groupedAggregates: { keys: string[] }[] } };
  orders.groupedAggregates.sort((one, other) => (one.keys.join() < other.keys.join() ? -1 : 1));
  return data;
}
