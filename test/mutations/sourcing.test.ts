import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { missingId, uuidOf } from "../lib/ids.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop, ShopOrder } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

let shop: ShippingShop;
/** Global ids of locations by the code of their warehouse. */
let places: Record<string, string>;
before(async () => {
  shop = await openShippingShop();
  await shop.sql(
    `insert into erp.warehouse (code, name, address) values ('annex', 'Annex', '{"countryIso": "FR"}')`,
  );
  await shop.sql(
    `insert into erp.location (name, warehouse_id) select name, id from erp.warehouse where code = 'annex'`,
  );
  await shop.sql(`insert into erp.location (name) values ('Boutique')`);
  const rows = await shop.sql(
    "select coalesce(w.code, 'boutique') as code, w.id as warehouse, l.id from erp.location l left join erp.warehouse w on w.id = l.warehouse_id",
  );
  places = Object.fromEntries(rows.map(({ code, id }) => [code, `gid://service/Location/${id}`]));
  shop.id.annex = `gid://service/Warehouse/${rows.find(({ code }) => code === "annex").warehouse}`;
});
after(() => shop.close());
const shipped = `create or replace function sourcing.plan(order_id uuid) returns setof sourcing.allotment`;
afterEach(async () => {
  await assertLedgerIsRight(shop);
  for (const table of ["erp.fulfillment", "erp.fulfillment_order", "erp.sales_order", "sourcing.rule"])
    await shop.sql(`delete from ${table}`);
  await shop.empty();
});

const nails = (quantity: number) => ({ product: "nail", quantity });
const hammers = (quantity: number) => ({ product: "hammer", quantity });
const setRules = async (rules: string[], ...codes: string[]) => {
  const input = { rules, ...(codes.length > 0 && { locationIds: codes.map((code) => places[code]) }) };
  const select = "sourcingRules { position kind location { name } }";
  return shop.mutate("sourcingRulesSet", input, { select });
};
const orders =
  "fulfillmentOrder { id } fulfillmentOrders { id number state sourceWarehouseLocation { warehouse { code } } lineItems { edges { node { id quantity destinationOrderLineItem { id } } } } }";
const plan = (order: ShopOrder, rest: object = {}) =>
  shop.mutate("fulfillmentOrderCreate", { orderId: order.id, ...rest }, { select: orders });
/** Units by warehouse and line of the order, as a fulfillment order has them. */
const content = (order: ShopOrder, { fulfillmentOrders }: any) =>
  fulfillmentOrders.map(({ sourceWarehouseLocation, lineItems }: any) => [
    sourceWarehouseLocation.warehouse.code,
    ...lineItems.edges.map(({ node }: any) => [
      order.lines.indexOf(node.destinationOrderLineItem.id),
      node.quantity,
    ]),
  ]);
const sourced = async (order: ShopOrder) => {
  const payload = await plan(order);
  assert.deepEqual(payload.userErrors, []);
  return content(order, payload);
};
const fill = async (stock: Record<string, [nails: number, hammers?: number]>) => {
  for (const [code, [nail, hammer = 0]] of Object.entries(stock)) {
    if (nail > 0) await shop.store("nail", code, nail);
    if (hammer > 0) await shop.store("hammer", code, hammer);
  }
};

describe("sourcingRulesSet", () => {
  it("replaces the rules, a priority for each location", async () => {
    const { sourcingRules, userErrors } = await setRules(["same_country", "priority"], "shed", "annex");
    assert.deepEqual(userErrors, []);
    const expected = [
      { position: 1, kind: "same_country", location: null },
      { position: 2, kind: "priority", location: { name: "Shed" } },
      { position: 3, kind: "priority", location: { name: "Annex" } },
    ];
    assert.deepEqual(sourcingRules, expected);
    await setRules(["fullest"]);
    const { sourcingRules: list } = await shop.read("{ sourcingRules { edges { node { kind } } } }");
    assert.deepEqual(list.edges, [{ node: { kind: "fullest" } }]);
    assert.deepEqual((await setRules([])).sourcingRules, []);
  });

  it("refuses rules that say nothing, and changes nothing", async () => {
    await setRules(["fullest"]);
    const nowhere = missingId("Location");
    const refused = async (rules: string[], locationIds?: string[]) =>
      refusals(await shop.mutate("sourcingRulesSet", { rules, locationIds }));
    assert.deepEqual(await refused(["priority"]), [["REQUIRED", "locationIds"]]);
    assert.deepEqual(await refused(["fullest"], [places.shed!]), [["INVALID", "locationIds"]]);
    assert.deepEqual(await refused(["fullest", "split_least", "fullest"]), [["NOT_UNIQUE", "rules.2"]]);
    assert.deepEqual(await refused(["priority"], [places.shed!, places.shed!, nowhere, places.boutique!]), [
      ["NOT_UNIQUE", "locationIds.1"],
      ["NOT_FOUND", "locationIds.2"],
      ["INVALID", "locationIds.3"],
    ]);
    const many = Array.from({ length: 101 }, () => places.shed!);
    assert.deepEqual(await refused(["priority"], many), [["TOO_MANY_LINES", "locationIds"]]);
    assert.deepEqual(await shop.sql("select kind from sourcing.rule"), [{ kind: "fullest" }]);
    const token = await shop.token({ read: "all", write: ["orders"] });
    const { codes } = await shop.tryMutate("sourcingRulesSet", { rules: [] }, { token });
    assert.deepEqual(codes, ["FORBIDDEN"]);
  });

  it("loses a rule with its location", async () => {
    await setRules(["priority", "fullest"], "annex");
    await shop.sql("delete from erp.location where name = 'Annex'");
    assert.deepEqual(await shop.sql("select kind from sourcing.rule"), [{ kind: "fullest" }]);
    const [{ id }] = await shop.sql(
      "insert into erp.location (name, warehouse_id) select name, id from erp.warehouse where code = 'annex' returning id",
    );
    places.annex = `gid://service/Location/${id}`;
  });
});

describe("fulfillmentOrderCreate without a warehouse", () => {
  it("has the default warehouse ship everything where there are no rules", async () => {
    await fill({ "B-1": [9], annex: [9] });
    assert.deepEqual(await sourced(await shop.order([nails(2), hammers(1)])), [["hall", [0, 2], [1, 1]]]);
  });

  it("takes locations by priority, each what it has, and the default warehouse what nobody has", async () => {
    await fill({ "B-1": [2], annex: [1, 1], "A-1": [1] });
    await setRules(["priority"], "annex", "shed");
    assert.deepEqual(await sourced(await shop.order([nails(9), hammers(2)])), [
      ["annex", [0, 1], [1, 1]],
      ["shed", [0, 2]],
      ["hall", [0, 6], [1, 1]],
    ]);
  });

  it("prefers the country of the shipping address", async () => {
    await fill({ "A-1": [9], annex: [1] });
    await setRules(["same_country"]);
    const order = await shop.order([nails(1)]);
    await shop.sql(
      `update erp.sales_order set shipping_address = '{"countryIso": "fr"}' where id = $1`,
      order.id,
    );
    assert.deepEqual(await sourced(order), [["annex", [0, 1]]]);
    assert.deepEqual(await sourced(await shop.order([nails(1)])), [["hall", [0, 1]]]);
  });

  it("prefers the fullest, and shares what it has among lines of the same product", async () => {
    await fill({ "A-1": [4], "B-1": [5], annex: [1, 3] });
    await setRules(["fullest"]);
    assert.deepEqual(await sourced(await shop.order([nails(3), nails(4)])), [
      ["shed", [0, 3], [1, 2]],
      ["hall", [1, 2]],
    ]);
  });

  it("does not split, and waits at the default warehouse if nobody has all", async () => {
    await fill({ "A-1": [9], "B-1": [1, 1] });
    await setRules(["do_not_split"]);
    assert.deepEqual(await sourced(await shop.order([nails(1), hammers(1)])), [["shed", [0, 1], [1, 1]]]);
    assert.deepEqual(await sourced(await shop.order([nails(2), hammers(1)])), [["hall", [0, 2], [1, 1]]]);
  });

  it("splits least", async () => {
    await fill({ "A-1": [3], "B-1": [2, 2], annex: [0, 3] });
    await setRules(["split_least"]);
    assert.deepEqual(await sourced(await shop.order([nails(2), hammers(2)])), [["shed", [0, 2], [1, 2]]]);
    // What other orders are promised is gone
    assert.deepEqual(await sourced(await shop.order([nails(3), hammers(3)])), [
      ["hall", [0, 3]],
      ["annex", [1, 3]],
    ]);
  });

  it("takes nothing from places that are off sale, inactive, or where it was called off", async () => {
    await fill({ "R-1": [9], "B-1": [9], annex: [9] });
    await setRules(["priority"], "returns", "shed", "annex");
    await shop.sql("update erp.location set active = false where warehouse_id = $1", shop.id.annex!);
    const order = await shop.order([nails(3)], [{ location: "shed", lines: [[0, 2]] }]);
    await shop.mutate("fulfillmentOrderCancel", { id: order.fulfillmentOrders[0]!.id });
    assert.deepEqual(await sourced(order), [["hall", [0, 3]]]);
    await shop.sql("update erp.location set active = true");
    assert.deepEqual(await sourced(await shop.order([nails(3)])), [["shed", [0, 3]]]);
  });

  it("ships from there, too", async () => {
    await fill({ "A-1": [9], "B-1": [2], annex: [1] });
    await setRules(["priority"], "shed", "annex");
    const order = await shop.order([nails(4)]);
    const payload = await shop.ship(order);
    assert.deepEqual(payload.userErrors, []);
    const moves = shop.moves(payload).map(([quantity, place]) => [quantity, place]);
    assert.deepEqual(moves.sort(), [
      [1, "A-1"],
      [1, "annex"],
      [2, "B-1"],
    ]);
    const named = await shop.ship(await shop.order([nails(1)]), { warehouseId: shop.id.hall });
    assert.deepEqual(shop.moves(named)[0]!.slice(0, 2), [1, "A-1"]);
  });

  it("needs a warehouse for given lines, and something to plan", async () => {
    const order = await shop.order([nails(1)]);
    const lines = [{ orderLineItemId: order.lines[0], quantity: 1 }];
    assert.deepEqual(refusals(await plan(order, { lines })), [["REQUIRED", "warehouseId"]]);
    await plan(order);
    assert.deepEqual(refusals(await plan(order)), [["INVALID_STATE_TRANSITION", "orderId"]]);
  });

  it("promises no unit twice to orders that are planned at the same time", async () => {
    await fill({ "A-1": [3], "B-1": [3], annex: [3] });
    await setRules(["fullest"]);
    const all = await Promise.all(Array.from({ length: 9 }, () => shop.order([nails(1)])));
    for (const { userErrors } of await Promise.all(all.map((order) => plan(order))))
      assert.deepEqual(userErrors, []);
    const short = await shop.sql("select from ledger.warehouse_stock where available_quantity < 0");
    assert.equal(short.length, 0);
  });
});

describe("a plan of the owner", () => {
  let body: string;
  before(async () => {
    [{ body }] = await shop.sql("select pg_get_functiondef('sourcing.plan(uuid)'::regprocedure) as body");
  });
  const replaced = async (query: string, work: () => Promise<void>) => {
    await shop.sql(`${shipped} language sql stable as $$ ${query} $$`);
    try {
      await work();
    } finally {
      await shop.sql(body);
    }
  };
  const first = "select n.order_line_item_id, l.id, ";
  const from = "from sourcing.needs(order_id) n, erp.location l where l.name = 'Shed'";

  it("decides, and leaves the rest to the default warehouse", () =>
    replaced(`${first} 1 ${from} union all ${first} 1 ${from}`, async () => {
      assert.deepEqual(await sourced(await shop.order([nails(3)])), [
        ["shed", [0, 2]],
        ["hall", [0, 1]],
      ]);
    }));

  const broken: [what: string, query: string, message: RegExp][] = [
    ["more than is open", `${first} n.quantity + 1 ${from}`, /gets 4 units, but 3/],
    ["nothing", `${first} 0 ${from}`, /gets 0 units/],
    ["lines of others", `select uuidv7(), l.id, 1 ${from}`, /but 0 are to be sourced/],
    ["no line", `select null::uuid, l.id, 1 ${from}`, /line null/],
    [
      "no location",
      "select n.order_line_item_id, null::uuid, 1 from sourcing.needs(order_id) n",
      /location null/,
    ],
    ["locations without a warehouse", `${first} 1 ${from.replace("Shed", "Boutique")}`, /not active/],
  ];
  for (const [what, query, message] of broken)
    it(`is refused if it names ${what}`, () =>
      replaced(query, async () => {
        const order = await shop.order([nails(3)]);
        for (const payload of [await plan(order), await shop.ship(order)]) {
          assert.deepEqual(refusals(payload), [["SOURCING_PLAN_INVALID", "orderId"]]);
          assert.match(payload.userErrors[0].message, message);
        }
        assert.deepEqual((await shop.stateOf(order)).fulfillmentOrders, []);
        // A given warehouse needs no plan
        assert.deepEqual((await plan(order, { warehouseId: shop.id.hall })).userErrors, []);
      }));
});

describe("sourcingSimulate", () => {
  const fields =
    "orderCount splitCount shortCount units shortUnits actualOrderCount actualSplitCount actualUnits";
  const simulate = async (args: string) => {
    const query = `{ whole: sourcingSimulate(${args}) { ${fields} }
      parts: sourcingSimulateLocations(${args}) { edges { node { location { name } ${fields} } } } }`;
    const { whole, parts } = await shop.read(query);
    const list = parts.edges.map(({ node: { location, ...rest } }: any) => [
      location.name,
      Object.values(rest),
    ]);
    return { whole: Object.values(whole), parts: list };
  };

  it("compares rules with what happened, by the stock of then", async () => {
    await fill({ "A-1": [4], "B-1": [2, 1] });
    const one = await shop.order(
      [nails(1), hammers(1)],
      [{ lines: [[0, 1]] }, { location: "shed", lines: [[1, 1]] }],
    );
    const two = await shop.order([nails(5)], [{ lines: [[0, 5]] }]);
    await shop.order([nails(1)], [], { state: "cancelled" });
    // Moments of orders are whole seconds: the next one is after the stock came
    const [{ moment }] = await shop.sql(
      "select date_trunc('second', clock_timestamp()) + interval '1 second' as moment",
    );
    for (const { id } of [one, two])
      await shop.owner.query("update erp.sales_order set order_date_time = $1 where id = $2", [
        moment,
        uuidOf(id),
      ]);
    await until(() => Date.now() > moment.getTime() + 5);
    // Nothing of what happens later counts
    await shop.store("nail", "A-1", 50);
    const since = `since: "${await shop.ago("1 day")}"`;
    assert.deepEqual(await simulate(since), {
      whole: [2, 0, 2, 7, 2, 2, 1, 7],
      parts: [
        ["Hall", [2, 0, 2, 7, 2, 2, 1, 6]],
        ["Shed", [0, 0, 0, 0, 0, 1, 1, 1]],
      ],
    });
    assert.deepEqual(await simulate(`${since}, rules: [split_least]`), {
      whole: [2, 1, 0, 7, 0, 2, 1, 7],
      parts: [
        ["Hall", [1, 1, 0, 4, 0, 2, 1, 6]],
        ["Shed", [2, 1, 0, 3, 0, 1, 1, 1]],
      ],
    });
    const priority = `rules: [priority], locationIds: ["${places.shed}"]`;
    assert.deepEqual((await simulate(`${since}, ${priority}, orders: 1`)).whole, [1, 1, 0, 5, 0, 1, 0, 5]);
    assert.deepEqual((await simulate(`since: "${await shop.ago("-1 hour")}"`)).whole.slice(0, 2), [0, 0]);
    await setRules(["split_least"]);
    assert.deepEqual((await simulate(since)).whole.slice(0, 3), [2, 1, 0]);
    assert.deepEqual((await simulate(`${since}, rules: []`)).whole.slice(0, 3), [2, 0, 2]);
  });

  it("needs sourcing:read", async () => {
    const token = await shop.token({ read: ["orders"] });
    const query = `{ sourcingSimulate(since: "2026-01-01T00:00:00Z") { units } }`;
    assert.deepEqual((await shop.ask(token, { query })).codes, ["FORBIDDEN"]);
  });
});
