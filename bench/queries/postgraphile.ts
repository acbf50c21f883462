import { afterPrefix } from "../../src/reads/filter-operators.ts";
import type { Ask, Speaker } from "../contestants/contestant.ts";
import { dataOf } from "../contestants/contestant.ts";
import { learnCursors } from "./cursors.ts";
import type { Parameters, ReadName } from "./reads.ts";
import { pagedLists } from "./service.ts";

/** Names in PostGraphile's schema, which differ by version. */
interface Words {
  /** The column `id`. */
  id: string;
  /** The root field of one row, and its argument. */
  one(type: string, variable: string): string;
  /** The selection of a product's first five tags. */
  tags: string;
}

/** PostGraphile 5: many-to-many by the tags @ref and @refVia of the view. */
export const version5: Words = {
  id: "id: rowId",
  one: (type, variable) => `${type}: ${type}ByRowId(rowId: ${variable})`,
  tags: "tags(first: 5) { edges { node { id: rowId name } } }",
};

/** PostGraphile 4, which has no many-to-many: the rows of the link, and from each its tag. */
export const version4: Words = {
  id: "id",
  one: (type, variable) => `${type}: ${type}ById(id: ${variable})`,
  tags: "tags: productTagsByProductId(first: 5) { edges { node { tag: tagByTagId { id name } } } }",
};

const listsOf = (list: string): string => `all${list[0]!.toUpperCase()}${list.slice(1)}`;

const documentsOf = ({ id, one, tags }: Words): Record<ReadName, string> => ({
  A: `query A($id: UUID!) { ${one("product", "$id")} { ${id} productNumber name gtin physicalStock availableStock } }`,
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
    ${one("product", "$product")} { ${id} productNumber name }
    ${one("order", "$order")} { ${id} orderNumber state amountTotal }
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
    products: allProducts(first: 20, after: $after) { edges { node { ${id} ${tags} } } }
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
});

/** Finds out the form of cursors, and then asks a PostGraphile. */
export async function speakPostgraphile(words: Words, ask: Ask): Promise<Speaker> {
  const documents = documentsOf(words);
  const lists = [...new Set(Object.values(pagedLists))];
  const cursors = new Map(
    await Promise.all(lists.map(async (list) => [list, await learnCursors(ask, listsOf(list))] as const)),
  );
  const variablesOf = (query: ReadName, parameters: Parameters): Parameters => {
    const { prefix, after, ...others } = parameters;
    if (prefix !== undefined) return { from: prefix, until: afterPrefix(prefix)!, ...others };
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
    read: (query, body) => (forms[query] ?? asItIs)(dataOf(body)),
  };
}

const asItIs = (data: unknown): unknown => data;
/** Answers that have another form. */
const forms: Partial<Record<ReadName, typeof asItIs>> = { H: tagsInPlaceOfLinks, J: groupsInOrder };

function groupsInOrder(data: unknown): unknown {
  const { orders } = data as { orders: { groupedAggregates: { keys: string[] }[] } };
  orders.groupedAggregates.sort((one, other) => (one.keys.join() < other.keys.join() ? -1 : 1));
  return data;
}

interface Edges {
  edges: { node: { tag?: unknown; tags?: Edges } }[];
}

function tagsInPlaceOfLinks(data: unknown): unknown {
  const { products } = data as { products: Edges };
  for (const { node } of products.edges) {
    const { edges } = node.tags!;
    node.tags = { edges: edges.map((edge) => ({ node: edge.node.tag ?? edge.node })) };
  }
  return data;
}
