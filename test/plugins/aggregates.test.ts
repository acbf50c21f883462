import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

const rows = `
  insert into erp.currency (iso_code, symbol, name, short_name, factor, is_default_currency) values
    ('EUR', '€', '{"en-GB":"Euro"}', '{"en-GB":"EUR"}', 1, true), ('CHF', 'Fr.', '{"en-GB":"Franc"}', '{"en-GB":"CHF"}', 1, false);
  insert into erp.sales_order (order_number, currency_id, state, delivery_state, amount_total, amount_net, order_date_time)
    select v.number, c.id, v.state, v.delivery, v.total, v.net, v.moment::timestamptz from (values
      ('SO-1', 'EUR', 'open', null, 10.10, 9, '2026-01-31T23:30:00Z'),
      ('SO-2', 'EUR', 'open', 'shipped', 20.20, 8, '2026-02-01T00:30:00+02:00'),
      ('SO-3', 'CHF', 'completed', 'shipped', null, null, '2026-02-01T00:00:00Z'),
      ('SO-4', 'EUR', 'completed', 'open', 0.3, 3, '2026-03-15T12:00:00Z')
    ) v (number, currency, state, delivery, total, net, moment) join erp.currency c on c.iso_code = v.currency;
  insert into erp.product (product_number, name) values ('hammer', 'Hammer'), ('nail', 'Nail');
  insert into erp.sales_order_line_item (order_id, product_id, type, identifier, label, quantity, shipped_quantity)
    select o.id, p.id, 'product', v.number || v.quantity, 'x', v.quantity, 0 from (values
      ('SO-1', 'hammer', 1), ('SO-1', 'nail', 1), ('SO-2', 'nail', 2), ('SO-4', null, 3)
    ) v (number, product, quantity) join erp.sales_order o on o.order_number = v.number
    left join erp.product p on p.product_number = v.product;
  -- Many rows quickly: without events, and without an index that isn't needed here
  alter table erp.fulfillment disable trigger user;
  drop index erp.fulfillment_search_idx;
  insert into erp.fulfillment (number, state, created_at)
    select 'F' || n, 'Fulfilled', timestamptz '2026-01-01Z' + n % 2000 * interval '1 minute' from generate_series(1, 100001) n;`;

let service: TestService;
let token: string;
let slow: TestService["ask"];
before(async () => {
  service = await startService({ before: (owner) => owner.query(rows).then(() => {}) });
  token = await service.token();
  slow = (await service.another({ settings: { fastReads: false } })).ask;
});
after(() => service?.close());

/** The part of the answer below the list, the same by both ways of reading. */
async function read(list: string, selection: string, args = ""): Promise<any> {
  const query = `{ ${list}${args && `(${args})`} { ${selection} } }`;
  const { body, text, headers } = await service.ask(token, { query });
  assert.equal(body.errors, undefined, text);
  assert.equal(headers.get("x-read-by"), "sql");
  const other = await slow(token, { query });
  assert.equal(other.headers.get("x-read-by"), null);
  assert.deepEqual(other.body.data, body.data);
  return body.data[list];
}

const refusal = async (query: string, as = token) => {
  const answers = [await service.ask(as, { query }), await slow(as, { query })];
  assert.deepEqual(answers[0]!.codes, answers[1]!.codes);
  return answers[0]!.codes;
};

describe("aggregates", () => {
  it("are of all entries, whatever the page is", async () => {
    const { aggregates } = await read(
      "orders",
      `aggregates { count keys sum { amountTotal amountNet } average { amountTotal amountNet }
        min { amountTotal orderDateTime } max { amountTotal orderDateTime } distinctCount { currencyId state deliveryState } }`,
      "first: 1",
    );
    assert.deepEqual(aggregates, {
      count: 4,
      keys: null,
      sum: { amountTotal: 30.6, amountNet: 20 },
      average: { amountTotal: 10.2, amountNet: 6.666667 },
      min: { amountTotal: 0.3, orderDateTime: "2026-01-31T22:30:00+00:00" },
      max: { amountTotal: 20.2, orderDateTime: "2026-03-15T12:00:00+00:00" },
      distinctCount: { currencyId: 2, state: 2, deliveryState: 2 },
    });
  });

  it("are of what a filter and a search leave", async () => {
    const filtered = await read(
      "orders",
      "aggregates { count sum { amountTotal } } edges { node { state } }",
      "filter: { amountTotal: { gt: 5 } }, first: 1",
    );
    assert.deepEqual(filtered, {
      aggregates: { count: 2, sum: { amountTotal: 30.3 } },
      edges: [{ node: { state: "open" } }],
    });
    assert.deepEqual(await read("products", "aggregates { count }", 'search: "hammer"'), {
      aggregates: { count: 1 },
    });
  });

  it("of nothing are 0 and null", async () => {
    const selection =
      "aggregates { count sum { amountTotal } average { amountTotal } max { orderDateTime } distinctCount { state } } groupedAggregates(groupBy: [STATE]) { count }";
    assert.deepEqual(await read("orders", selection, "filter: { amountTotal: { gt: 500 } }"), {
      aggregates: {
        ...{ count: 0, sum: { amountTotal: 0 }, average: { amountTotal: null } },
        ...{ max: { orderDateTime: null }, distinctCount: { state: 0 } },
      },
      groupedAggregates: [],
    });
  });

  it("are of the lists of rows, too", async () => {
    const { edges } = await read(
      "currencies",
      "edges { node { isoCode orders { aggregates { count sum { amountTotal } } } } }",
    );
    assert.deepEqual(
      edges.map(({ node }: any) => [
        node.isoCode,
        node.orders.aggregates.count,
        node.orders.aggregates.sum.amountTotal,
      ]),
      [
        ["EUR", 3, 30.6],
        ["CHF", 1, 0],
      ],
    );
  });
});

describe("grouped aggregates", () => {
  const groups = async (list: string, by: string, selection = "count", args = "") =>
    (await read(list, `groupedAggregates(groupBy: [${by}]) { keys ${selection} }`, args)).groupedAggregates;

  it("have a group for each value, in the order of their texts, nulls last", async () => {
    assert.deepEqual(await groups("orders", "DELIVERY_STATE", "count sum { amountTotal }"), [
      { keys: ["open"], count: 1, sum: { amountTotal: 0.3 } },
      { keys: ["shipped"], count: 2, sum: { amountTotal: 20.2 } },
      { keys: [null], count: 1, sum: { amountTotal: 10.1 } },
    ]);
  });

  it("are by hour, day and month in UTC, and by several things", async () => {
    assert.deepEqual(await groups("orders", "ORDER_DATE_TIME_TRUNCATED_TO_DAY"), [
      { keys: ["2026-01-31T00:00:00+00:00"], count: 2 },
      { keys: ["2026-02-01T00:00:00+00:00"], count: 1 },
      { keys: ["2026-03-15T00:00:00+00:00"], count: 1 },
    ]);
    assert.deepEqual(
      await groups("orders", "STATE, ORDER_DATE_TIME_TRUNCATED_TO_MONTH", "count average { amountNet }"),
      [
        { keys: ["completed", "2026-02-01T00:00:00+00:00"], count: 1, average: { amountNet: null } },
        { keys: ["completed", "2026-03-01T00:00:00+00:00"], count: 1, average: { amountNet: 3 } },
        { keys: ["open", "2026-01-01T00:00:00+00:00"], count: 2, average: { amountNet: 8.5 } },
      ],
    );
  });

  it("name rows by ids that filters take", async () => {
    const found = await groups("orderLineItems", "PRODUCT_ID", "sum { quantity } distinctCount { orderId }");
    assert.deepEqual(
      found.map(({ sum, distinctCount }: any) => [sum.quantity, distinctCount.orderId]),
      [
        [1, 1],
        [3, 2],
        [3, 1],
      ],
    );
    assert.equal(found[2].keys[0], null);
    const { aggregates } = await read(
      "orderLineItems",
      "aggregates { average { quantity } }",
      `filter: { productId: { equals: "${found[1].keys[0]}" } }`,
    );
    assert.equal(aggregates.average.quantity, 1.5);
  });

  it("take what to group by as a variable", async () => {
    const query =
      "query ($by: [OrderGroupBy!]!) { orders { groupedAggregates(groupBy: $by) { keys count } } }";
    for (const [by, count] of [
      [["STATE"], 2],
      ["CURRENCY_ID", 2],
      [["STATE", "CURRENCY_ID"], 3],
      [[], 1],
    ] as const) {
      const { body } = await service.ask(token, { query, variables: { by } });
      assert.equal(body.data.orders.groupedAggregates.length, count);
    }
  });
});

describe("aggregates are refused", () => {
  it("of more than 100,000 entries, with what to do", async () => {
    const query = "{ fulfillments { aggregates { count } } }";
    assert.deepEqual(await refusal(query), ["AGGREGATE_TOO_BROAD"]);
    assert.match(
      (await service.ask(token, { query })).body.errors[0].message,
      /100,000 entries.*by a filter/,
    );
    assert.deepEqual(await refusal("{ fulfillments { groupedAggregates(groupBy: [STATE]) { count } } }"), [
      "AGGREGATE_TOO_BROAD",
    ]);
    const filter = 'filter: { createdAt: { after: "2026-01-01T00:00:30Z" } }';
    const { aggregates } = await read("fulfillments", "aggregates { count }", filter);
    assert.equal(aggregates.count, 100_001 - 50);
  });

  it("in more than 1,000 groups", async () => {
    const filter = 'filter: { createdAt: { after: "2026-01-01T00:00:30Z" } }';
    assert.deepEqual(
      await refusal(`{ fulfillments(${filter}) { groupedAggregates(groupBy: [CREATED_AT]) { count } } }`),
      ["AGGREGATE_TOO_BROAD"],
    );
  });

  it("without the scope of the list, and of what is no number", async () => {
    const stranger = await service.token({ read: ["products"] });
    assert.deepEqual(await refusal("{ orders { aggregates { count } } }", stranger), ["FORBIDDEN"]);
    for (const selection of ["sum { orderNumber }", "max { state }", "stddevSample { amountTotal }"])
      assert.deepEqual(await refusal(`{ orders { aggregates { ${selection} } } }`), [
        "GRAPHQL_VALIDATION_FAILED",
      ]);
    assert.deepEqual(await refusal("{ orders { groupedAggregates(groupBy: [ORDER_NUMBER]) { count } } }"), [
      "GRAPHQL_VALIDATION_FAILED",
    ]);
  });
});

it("aggregates cost 20 points, groups 30, whatever the page", async () => {
  const cost = async (selection: string, first = 10) =>
    (await service.ask(token, { query: `{ orders(first: ${first}) { ${selection} } }` })).body.extensions.cost
      .requested;
  const without = await cost("__typename");
  assert.equal((await cost("aggregates { count }")) - without, 20);
  assert.equal(
    (await cost("groupedAggregates(groupBy: [STATE]) { count sum { amountTotal } }")) - without,
    30,
  );
  assert.equal((await cost("aggregates { count }", 250)) - (await cost("__typename", 250)), 20);
});
