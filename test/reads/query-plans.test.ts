import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { parse, validate } from "postgraphile/graphql";
import { encodeCursor } from "../../src/graphql/cursor.ts";
import { compileReadRequest } from "../../src/reads/statements.ts";
import { openTwoExecutors } from "./two-executors.ts";
import type { TwoExecutors } from "./two-executors.ts";

let executors: TwoExecutors;
// So that units of any product can be booked
const sql = "update erp.product set is_batch_managed = false, has_serial_numbers = false";
before(async () => void (executors = await openTwoExecutors("api_unstable", { sql })));
after(() => executors?.close());

/** The relevant properties of a plan's node. */
interface QueryPlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  "Actual Rows": number;
  "Rows Removed by Filter"?: number;
  Plans?: QueryPlanNode[];
}

const nodesOf = (node: QueryPlanNode): QueryPlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Tables that have few rows in any shop, for which a sequential scan is as good as an index. */
const small = new Set([
  "currency",
  "country",
  "warehouse",
  "location",
  "tag",
  "tax",
  "payment_method",
  "salutation",
]);

/** The plan of the statement that answers an operation. */
function queryPlanOfRead(source: string, variables: Record<string, unknown> = {}): Promise<QueryPlanNode[]> {
  const document = parse(source);
  assert.deepEqual(validate(executors.sqlSchema, document), []);
  const request = {
    schema: executors.sqlSchema,
    document,
    operationName: null,
    variableValues: variables,
  };
  const statement = compileReadRequest(request);
  assert.ok(statement, "it is one statement");
  assert.doesNotMatch(statement.text.replaceAll("offset 0", ""), /\boffset\b/i);
  return queryPlanOf(statement);
}

interface Sent {
  text: string;
  values: unknown[];
}

/**
 * The plan of a statement, as it is run. Sequential scans, also for joins, are made expensive, because the
 * demonstration data is so small that Postgres would prefer them.
 */
async function queryPlanOf({ text, values }: Sent): Promise<QueryPlanNode[]> {
  const client: pg.PoolClient = await executors.pool.connect();
  try {
    await client.query(
      `begin; set local role service_api; set local enable_seqscan = off; set local enable_bitmapscan = off;
       set local enable_hashjoin = off; set local enable_mergejoin = off`,
    );
    await client.query("select set_config('service.scopes', $1, true)", [executors.allScopes.join(" ")]);
    const { rows } = await client.query(`explain (analyze, format json, timing off) ${text}`, values);
    return nodesOf(rows[0]["QUERY PLAN"][0].Plan);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

/** The statements that Postgres gets for the first time while Grafast answers an operation. */
async function sentByGrafast(source: string, variables: Record<string, unknown>): Promise<Sent[]> {
  const sent: Sent[] = [];
  const restore = new Map<unknown, () => void>();
  const listen = ({ connection }: any) => {
    if (restore.has(connection)) return;
    const { parse: parseMessage, bind } = connection;
    let text: string | null = null;
    connection.parse = (message: { text: string }) => {
      ({ text } = message);
      parseMessage.call(connection, message);
    };
    connection.bind = (message: { values: unknown[] }) => {
      if (text !== null) sent.push({ text, values: message.values });
      text = null;
      bind.call(connection, message);
    };
    restore.set(connection, () => Object.assign(connection, { parse: parseMessage, bind }));
  };
  executors.pool.on("acquire", listen);
  try {
    assert.deepEqual((await executors.byGrafast({ source, variables })).errors, []);
  } finally {
    executors.pool.off("acquire", listen);
    for (const undo of restore.values()) undo();
  }
  return sent.filter(({ text }) => !text.includes("set_config"));
}

async function firstOf(list: string, position = 0): Promise<string> {
  const { data } = await executors.byGrafast({
    source: `{ list: ${list}(first: ${position + 1}) { edges { node { id } } } }`,
  });
  return data.list.edges.at(-1).node.id;
}

async function cursorOf(list: string, orderBy: string, position: number): Promise<string> {
  const { data } = await executors.byGrafast({
    source: `{ list: ${list}(first: ${position + 1}, orderBy: ${orderBy}) { pageInfo { endCursor } } }`,
  });
  return data.list.pageInfo.endCursor;
}

const uuidOf = (id: string): string => id.slice(-36);

const hot: [what: string, source: string, variables?: () => Promise<Record<string, unknown>>][] = [
  [
    "a product by id",
    "query ($id: ID!) { product(id: $id) { id productNumber name gtin availableStock price { net } } }",
    async () => ({ id: await firstOf("products") }),
  ],
  [
    "products by the beginning of their number",
    'query { products(first: 10, filter: { productNumber: { startsWith: "BK-000" } }) { edges { node { id name } } pageInfo { hasNextPage } } }',
  ],
  [
    "products with their tags",
    "{ products(first: 10) { edges { node { id tags(first: 5) { edges { node { id name } } pageInfo { hasNextPage } } } } } }",
  ],
  [
    "orders with lines, products and currency",
    `{ orders(first: 20) { edges { node { id currency { isoCode }
      lineItems(first: 5) { edges { node { quantity product { id productNumber } } } } } } pageInfo { hasNextPage } } }`,
  ],
  [
    "movements with products, bins and warehouses, deep in the list",
    `query ($after: String) { stockMovements(first: 100, after: $after) {
      edges { cursor node { quantity product { id } sourceWarehouse { code } destinationWarehouse { code }
        sourceBinLocation { code } destinationBinLocation { code } } }
      pageInfo { hasNextPage hasPreviousPage endCursor } } }`,
    async () => ({
      after: encodeCursor("Query.stockMovements", uuidOf(await firstOf("stockMovements", 200))),
    }),
  ],
  [
    "movements after a cursor that remembers open transactions",
    `query ($after: String) { stockMovements(first: 100, after: $after) {
      edges { cursor node { quantity } } pageInfo { hasNextPage hasPreviousPage endCursor } } }`,
    async () => ({
      after: encodeCursor(
        "Query.stockMovements",
        uuidOf(await firstOf("stockMovements", 200)),
        "~100.0.7-12.3",
        [{ key: uuidOf(await firstOf("stockMovements", 240)), open: "~90.0.3-20.2000" }],
      ),
    }),
  ],
  [
    "movements into bins after such a cursor",
    `query ($id: ID!, $after: String) { binLocation(id: $id) { destinationStockMovements(first: 100, after: $after) {
      edges { cursor node { quantity } } pageInfo { hasNextPage hasPreviousPage endCursor } } } }`,
    async () => ({
      id: await firstOf("binLocations"),
      after: encodeCursor(
        "BinLocation.destinationStockMovements",
        uuidOf(await firstOf("stockMovements", 200)),
        "~100.0.7-12.3",
      ),
    }),
  ],
  [
    "the newest orders of a state, with their number",
    `{ orders(first: 20, filter: { state: { equals: "open" } }, orderBy: STATE_AND_ORDER_DATE_TIME_DESC) {
      edges { cursor node { id orderDateTime } } pageInfo { hasNextPage } totalCount { count precision } } }`,
  ],
  ...(["after", "before"] as const).map(
    (argument): [string, string, () => Promise<Record<string, unknown>>] => [
      `movements by their time, newest first, ${argument} a cursor`,
      `query ($cursor: String) { stockMovements(${argument === "after" ? "first" : "last"}: 50, ${argument}: $cursor,
      orderBy: CREATED_AT_DESC) { edges { cursor node { quantity } } pageInfo { hasNextPage hasPreviousPage } } }`,
      async () => ({ cursor: await cursorOf("stockMovements", "CREATED_AT_DESC", 200) }),
    ],
  ),
  [
    "the last movements",
    "{ stockMovements(last: 100) { edges { node { quantity } } pageInfo { hasPreviousPage } } }",
  ],
  [
    "products by a text that may be null, after a cursor",
    `query ($cursor: String) { products(first: 50, after: $cursor, orderBy: GTIN_ASC) {
      edges { cursor node { gtin } } pageInfo { hasNextPage hasPreviousPage } } }`,
    async () => ({ cursor: await cursorOf("products", "GTIN_ASC", 20) }),
  ],
  [
    "products by name, from the end",
    "{ products(last: 20, orderBy: NAME_DESC) { edges { node { name } } pageInfo { hasPreviousPage } } }",
  ],
  [
    "customers by e-mail, which is unique in no index",
    '{ customers(first: 20, orderBy: EMAIL_ASC, filter: { email: { startsWith: "a" } }) { edges { node { email } } } }',
  ],
  [
    "orders by their ids in the shop",
    `{ orders(first: 20, filter: { storefrontId: { in: ["1", "2", "gid://shop/Order/3"] } }) { edges { node { id } } } }`,
  ],
  [
    "an order by its id in the shop and its channel",
    `query ($id: ID!) { orders(first: 20, filter: { storefrontId: { equals: "1" }, salesChannelId: { equals: $id } }) {
      edges { node { id } } totalCount { count } } }`,
    async () => ({ id: await firstOf("salesChannels") }),
  ],
  [
    "customers by their ids in the shop",
    `{ customers(first: 20, filter: { storefrontId: { in: ["1", "2"] } }) { edges { node { id } } } }`,
  ],
  [
    "the newest orders of a customer",
    `query ($id: ID!) { customer(id: $id) { orders(first: 20, orderBy: ORDER_DATE_TIME_DESC, filter: { state: { equals: "open" } }) {
      edges { node { id orderDateTime customer { email } } } } } }`,
    async () => ({ id: await firstOf("customers", 3) }),
  ],
  [
    "orders with a product in one of their lines",
    `query ($id: ID!) { orders(first: 20, filter: { lineItems: { some: { productId: { equals: $id } } } }) {
      edges { node { id } } totalCount { count precision } aggregates { count sum { amountTotal } } } }`,
    async () => ({ id: await firstOf("products", 5) }),
  ],
  [
    "lines of orders that were not cancelled, with a product by its number",
    `{ orderLineItems(first: 20, filter: { NOT: { order: { state: { equals: "cancelled" } } },
      product: { productNumber: { startsWith: "BK-000" } } }) { edges { node { id quantity } } } }`,
  ],
  [
    "products with a tag that have stock in no warehouse but one",
    `query ($id: ID!) { products(first: 20, filter: { tags: { some: { name: { startsWith: "a" } } },
      warehouseStocks: { every: { warehouseId: { equals: $id } } } }) { edges { node { id } } } }`,
    async () => ({ id: await firstOf("warehouses") }),
  ],
  [
    "movements by their numbers",
    `{ stockMovements(first: 250, filter: { sequence: { gt: 500, lte: 750 } }) { edges { node { id sequence quantity } } } }`,
  ],
  [
    "movements of a product",
    `query ($id: ID!) { stockMovements(first: 10, filter: { productId: { equals: $id } }) { edges { node { quantity } } } }`,
    async () => ({ id: await firstOf("products", 5) }),
  ],
  [
    "stock of a warehouse",
    `query ($id: ID!) { warehouse(id: $id) { stocks(first: 50) { edges { node { quantity product { id } binLocation { code } } } pageInfo { hasNextPage } } } }`,
    async () => ({ id: await firstOf("warehouses") }),
  ],
  [
    "stocks with their batches",
    `{ stocks(first: 50) { edges { node { quantity
      batches(first: 5) { edges { node { quantity batch { number } } } } } } pageInfo { hasNextPage } } }`,
  ],
  [
    "movements with their batches",
    `{ stockMovements(first: 100) { edges { node { quantity batches { edges { node { quantity batch { number product { id } } } } } } } } }`,
  ],
  [
    "lines of fulfillments with their batches and the bins that they came from",
    `{ fulfillments(first: 20) { edges { node { lineItems(first: 10) { edges { node { quantity
      batches { edges { node { quantity batch { number } stockMovement { sourceBinLocation { code } } } }
        aggregates { count sum { quantity } } } } } } } } } }`,
  ],
  [
    "a batch: where it lies, what moved it, and which orders got it",
    `query ($id: ID!) { batch(id: $id) { number
      stocks(first: 50) { edges { node { quantity stock { binLocation { code } warehouse { code } order { id } } } } }
      stockMovements(first: 50) { edges { node { quantity stockMovement { createdAt } } } pageInfo { hasNextPage } }
      fulfillmentLineItems(first: 50) { edges { node { quantity fulfillmentLineItem { fulfillmentOrderLineItem {
        fulfillmentOrder { destinationOrder { orderNumber } } } } } } } } }`,
    async () => ({ id: await firstOf("batches") }),
  ],
  [
    "places that a batch is in, by their warehouse",
    `query ($batch: ID!, $warehouse: ID!) { batchStocks(first: 20, filter: { batchId: { equals: $batch },
      stock: { binLocation: { warehouseId: { equals: $warehouse } } } }) { edges { node { quantity } } } }`,
    async () => ({ batch: await firstOf("batches"), warehouse: await firstOf("warehouses") }),
  ],
  [
    "a batch: where it came from, who got it, what left otherwise, and what remains",
    `query ($id: ID!) { batch(id: $id) {
      trace { receivedQuantity shippedQuantity returnedQuantity removedQuantity remainingQuantity }
      origins(first: 50) { edges { node { kind quantity supplierOrderNumbers goodsReceipt { supplier { name } } } } }
      shipments(first: 50) { edges { node { shippedQuantity returnedQuantity shippingAddress order { orderNumber customer { email } }
        fulfillmentNumbers trackingCodes } } totalCount { count } }
      removals(first: 50) { edges { node { kind quantity } } }
      stocks(first: 50, filter: { NOT: { stock: { locationTypeTechnicalName: { equals: "order" } } } }) {
        edges { node { quantity stock { binLocation { code } } } } } } }`,
    async () => ({ id: await firstOf("batches") }),
  ],
  [
    "the shipments of a batch after a cursor",
    `query ($id: ID!, $after: String) { batch(id: $id) { shipments(first: 20, after: $after) {
      edges { cursor node { orderId keptQuantity } } pageInfo { hasNextPage hasPreviousPage } } } }`,
    async () => {
      const id = await firstOf("batches");
      const source = "query ($id: ID!) { batch(id: $id) { shipments(first: 2) { pageInfo { endCursor } } } }";
      const { data } = await executors.byGrafast({ source, variables: { id } });
      return { id, after: data.batch.shipments.pageInfo.endCursor };
    },
  ],
  [
    "movements as events of EPCIS",
    "{ stockMovements(first: 50) { edges { node { epcis { event problems } } } } }",
  ],
  [
    "several lists at once",
    `{ a: products(first: 3) { edges { node { id } } } b: orders(first: 3) { edges { node { id } } }
       c: stocks(first: 3) { edges { node { id } } } d: fulfillments(first: 3) { edges { node { id } } } }`,
  ],
];

/** The large tables that a plan reads completely. */
const readWhole = (nodes: QueryPlanNode[]): string[] =>
  nodes
    .filter((node) => node["Node Type"].endsWith("Seq Scan"))
    .map((node) => node["Relation Name"]!)
    .filter((table) => !small.has(table));

describe("the plan of", () => {
  for (const [what, source, variables] of hot) {
    it(`${what} reads no table as a whole and sorts no more than a page`, async () => {
      const nodes = await queryPlanOfRead(source, await variables?.());
      assert.deepEqual(readWhole(nodes), []);
      const sorts = nodes.filter((node) => node["Node Type"].endsWith("Sort"));
      for (const { Plans = [] } of sorts) assert.ok(Plans[0]!["Actual Rows"] <= 250, JSON.stringify(sorts));
      if (process.env.SHOW_PLANS)
        console.log(
          what,
          nodes.map(
            (n) =>
              `${n["Node Type"]} ${n["Relation Name"] ?? ""} ${n["Index Name"] ?? ""} ${n["Actual Rows"]} -${n["Rows Removed by Filter"] ?? 0}`,
          ),
        );
    });
  }

  const tablesOf = async (query: string) =>
    (await queryPlanOfRead(query)).map((node) => node["Relation Name"]).filter((name) => name !== undefined);

  it("movements looks for numbers only where they are asked for", async () => {
    const movements = (fields: string) => `{ stockMovements(first: 9) { edges { node { ${fields} } } } }`;
    assert.deepEqual(await tablesOf(movements("id quantity")), ["stock_movement"]);
    assert.deepEqual(await tablesOf(movements("id sequence")), ["stock_movement", "movement_sequence"]);
  });

  it("sums of orders reads them once, together and by groups", async () => {
    const sums = `aggregates { count sum { amountTotal } } groupedAggregates(groupBy: [STATE]) { keys sum { amountTotal } }
      byDay: groupedAggregates(groupBy: [ORDER_DATE_TIME_TRUNCATED_TO_DAY]) { keys count }`;
    assert.deepEqual(await tablesOf(`{ orders { ${sums} } }`), ["sales_order"]);
    assert.deepEqual(await tablesOf(`{ orders(first: 2) { edges { node { id } } ${sums} } }`), [
      "sales_order",
      "sales_order",
    ]);
  });

  it("look-ups of several rows by Grafast finds each by an index, behind row-level security", async () => {
    const { data } = await executors.byGrafast({
      source: "{ stocks(first: 100) { edges { node { binLocationId productId } } } }",
    });
    const lines = data.stocks.edges
      .map(({ node }: any) => node)
      .filter(({ binLocationId }: any) => binLocationId !== null)
      .slice(0, 20)
      .map(({ productId, binLocationId }: any) => ({ productId, place: { binLocationId }, delta: 1 }));
    const sent = await sentByGrafast(
      `mutation ($input: StockAdjustInput!) {
        stockAdjust(input: $input) { stockMovements { id product { id tags(first: 3) { edges { node { name } } } } } stocks { id } userErrors { code message } } }`,
      { input: { lines } },
    );
    const several = sent.filter(({ text }) => /json_array_elements|= any \(/.test(text));
    assert.ok(several.length >= 3, "there are statements for several rows");
    for (const statement of several) {
      const scans = (await queryPlanOf(statement)).filter(
        (node) => node["Relation Name"] !== undefined && !small.has(node["Relation Name"]),
      );
      const withoutIndex = scans.filter((node) => node["Index Cond"] === undefined);
      assert.deepEqual(withoutIndex, [], statement.text);
    }
  });
});
