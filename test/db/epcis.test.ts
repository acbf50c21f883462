import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";

const used = useDatabase("template_demo");
const rows = queryRows(() => used.client);

/** The value of an expression. */
const valueOf = async (expression: string, ...values: unknown[]) =>
  (await used.client.query(`select ${expression} as value`, values)).rows[0].value;

/** The values of an expression for each text x. */
const eachOf = (expression: string, texts: (string | null)[]) =>
  valueOf(
    `(select json_agg(${expression} order by n) from unnest($1::text[]) with ordinality v (x, n))`,
    texts,
  );

describe("identifiers of GS1", () => {
  const numbers: [code: string, isRight: boolean][] = [
    ["96385074", true],
    ["96385075", false],
    ["036000291452", true],
    ["9521000000179", true],
    ["9521000000171", false],
    ["9521000000197", false],
    ["19521000000176", true],
    ["952100000017X", false],
    ["0000000", false],
    ["", false],
  ];
  for (const [code, isRight] of numbers)
    it(`“${code}” ${isRight ? "has" : "doesn't have"} the right check digit`, async () => {
      assert.equal(await valueOf("erp.is_gs1_number($1)", code), isRight);
    });

  it("a GTIN has 14 digits, also if it was written with 8, 12 or 13", async () => {
    const found = await eachOf("erp.gtin14(x)", [
      "96385074",
      "036000291452",
      "9521000000179",
      "19521000000176",
      "9521000000171",
      "952100000",
      null,
    ]);
    assert.deepEqual(found, [
      ...["00000096385074", "00036000291452", "09521000000179", "19521000000176", null, null, null],
    ]);
  });

  it("a lot has up to 20 characters of those that the standard allows", async () => {
    const lots = [
      "L2411-1",
      "a/b%c",
      `!"%&'()*+,-./:;<=>`,
      "x".repeat(20),
      "x".repeat(21),
      "ä",
      "a b",
      "a#b",
      "",
    ];
    const allowed = await eachOf("erp.is_gs1_text(x)", lots);
    assert.deepEqual(allowed, [true, true, true, true, false, false, false, false, false]);
  });

  it("a text in a URI can be read back", async () => {
    for (const text of ["L-1", "a/b", `50%"x"`, "ä €", "?a=1&b#c", "~._-"])
      assert.equal(decodeURIComponent(await valueOf("erp.in_uri($1)", text)), text);
    assert.equal(await valueOf("erp.in_uri($1)", "a/b c"), "a%2Fb%20c");
  });
});

describe("the event of a movement", () => {
  const steps: [
    source: string,
    destination: string,
    special: string | null,
    process: string | null,
    step: string,
  ][] = [
    ["special_stock_location", "goods_receipt", "unknown", "supplier_order", "receiving OBSERVE in_progress"],
    ["return_order", "goods_receipt", null, "return_order", "receiving OBSERVE returned"],
    ["goods_receipt", "bin_location", null, "supplier_order", "storing OBSERVE"],
    ["bin_location", "stock_container", null, "relocation", "storing OBSERVE"],
    ["bin_location", "order", null, "shipping", "shipping OBSERVE in_transit"],
    ["order", "bin_location", null, "cancelled_fulfillment", "void_shipping OBSERVE"],
    ["order", "warehouse", null, null, "receiving OBSERVE returned"],
    [
      "goods_receipt",
      "special_stock_location",
      "stock_correction",
      "free_goods_receipt",
      "destroying DELETE destroyed",
    ],
    ["goods_receipt", "special_stock_location", "unknown", "supplier_order", "shipping OBSERVE returned"],
    ["special_stock_location", "warehouse", "initialization", null, "stock_taking OBSERVE available"],
    [
      "special_stock_location",
      "bin_location",
      "stock_correction",
      "stocktaking",
      "stock_taking OBSERVE available",
    ],
    [
      "bin_location",
      "special_stock_location",
      "stock_correction",
      "stocktaking",
      "stock_taking OBSERVE unknown",
    ],
    ["warehouse", "special_stock_location", "unknown", null, "other OBSERVE"],
  ];
  for (const [source, destination, special, process, step] of steps)
    it(`from ${source} to ${special ?? destination} by ${process} is ${step}`, async () => {
      const words = await valueOf("ledger.epcis_step($1, $2, $3, $4)", source, destination, special, process);
      assert.equal(words.join(" "), step);
    });
});

interface Row {
  id: string;
  event: any;
  problems: string[];
  movement: any;
  lots: Record<string, number>;
  gtin: string | null;
}

const link = "https://id.gs1.org";
const [bizSteps, dispositions, transactionTypes] = [
  new Set("receiving storing shipping void_shipping destroying stock_taking other".split(" ")),
  new Set("in_progress returned in_transit destroyed available unknown".split(" ")),
  new Set("po recadv poc desadv".split(" ")),
];

describe("the events of the demonstration shop", () => {
  let all: Row[];
  before(async () => {
    all = await rows(
      `select e.id, e.event, e.problems::text[], to_jsonb(m) as movement, p.gtin, coalesce((
         select jsonb_object_agg(b.number, l.quantity) from ledger.stock_movement_batch l join erp.batch b on b.id = l.batch_id
         where l.stock_movement_id = m.id), '{}') as lots
       from api_unstable.epcis_records e join ledger.stock_movement m using (id) join erp.product p on p.id = m.product_id`,
    );
  });

  it("have the form that the standard demands", () => {
    const events = all.filter(({ event }) => event !== null);
    assert.ok(events.length > 2_000);
    for (const { id, event } of events) {
      const { readPoint, bizLocation, bizTransactionList = [], ...rest } = event;
      const { eventTime, quantityList, sourceList, destinationList, disposition, bizStep, ...others } = rest;
      assert.deepEqual(others, {
        ...{ type: "ObjectEvent", eventID: `urn:uuid:${id}`, eventTimeZoneOffset: "+00:00" },
        action: bizStep === "destroying" ? "DELETE" : "OBSERVE",
      });
      assert.match(eventTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.ok(bizSteps.has(bizStep), bizStep);
      assert.ok(disposition === undefined || dispositions.has(disposition), disposition);
      assert.match(readPoint.id, /^https:\/\/id\.gs1\.org\/414\/\d{13}(\/254\/[\w.~%-]+)?$/);
      if (bizLocation) assert.ok(readPoint.id.startsWith(bizLocation.id));
      for (const { type, bizTransaction } of bizTransactionList) {
        assert.ok(transactionTypes.has(type), type);
        assert.match(bizTransaction, /^urn:epcglobal:cbv:bt:\d{13}:[\w.~%-]+$/);
      }
      assert.equal(sourceList === undefined, destinationList === undefined);
      assert.ok(quantityList.length > 0);
    }
  });

  it("have the units by lot, and the rest by product", () => {
    let withLots = 0;
    for (const { event, movement, lots, gtin } of all.filter(({ event }) => event !== null)) {
      const item = `${link}/01/${gtin!.padStart(14, "0")}`;
      const found = event.quantityList.map(({ epcClass, quantity }: any) => [
        decodeURIComponent(epcClass),
        quantity,
      ]);
      const expected = Object.entries(lots).map(([lot, quantity]) => [`${item}/10/${lot}`, quantity]);
      const rest = movement.quantity - Object.values(lots).reduce((sum, quantity) => sum + quantity, 0);
      if (rest > 0) expected.push([item, rest]);
      assert.deepEqual(found.sort(), expected.sort());
      if (expected.length > 1) withLots++;
    }
    assert.ok(withLots > 0, "some movements have several batches");
  });

  it("are missing exactly where something is missing, with the reason", () => {
    const counted: Record<string, number> = {};
    for (const { event, problems, gtin } of all) {
      assert.equal(event === null, problems.length > 0);
      assert.equal(problems.includes("ProductWithoutGtin"), gtin === null);
      for (const problem of problems) counted[problem] = (counted[problem] ?? 0) + 1;
    }
    assert.deepEqual(Object.keys(counted).sort(), [
      "PlaceUnknown",
      "ProductWithoutGtin",
      "WarehouseWithoutGln",
    ]);
  });

  it("name the documents behind movements", () => {
    const typesOf = (bizStep: string) =>
      new Set(
        all
          .filter(({ event }) => event?.bizStep === bizStep)
          .flatMap(({ event }) => (event.bizTransactionList ?? []).map(({ type }: any) => type)),
      );
    assert.deepEqual([...typesOf("receiving")].sort(), ["po", "poc", "recadv"]);
    assert.deepEqual([...typesOf("shipping")].sort(), ["desadv", "po", "poc", "recadv"]);
    assert.deepEqual([...typesOf("stock_taking")], []);
  });

  it("say of a transfer which building it left", () => {
    const transfers = all.filter(({ event }) => event?.sourceList);
    assert.ok(transfers.length > 0);
    for (const { event } of transfers) {
      const [[from], [to]] = [event.sourceList, event.destinationList];
      assert.deepEqual([from.type, to.type, event.bizStep], ["location", "location", "storing"]);
      assert.notEqual(from.source, to.destination);
      assert.equal(to.destination, event.bizLocation.id);
    }
  });
});

describe("a batch whose number GS1 doesn't allow", () => {
  it("makes no event, and is named as the reason", async () => {
    await used.client.query("begin");
    try {
      const [made] = (await rows(
        `update erp.batch set number = 'Charge Nr. ' || left(id::text, 12) where id = (
           select l.batch_id from ledger.stock_movement_batch l join api_unstable.epcis_records e on e.id = l.stock_movement_id
           where e.event is not null order by l.stock_movement_id limit 1) returning id`,
      )) as { id: string }[];
      const found = await rows(
        `select distinct e.event, e.problems::text[] from api_unstable.epcis_records e
         join ledger.stock_movement_batch l on l.stock_movement_id = e.id
         where l.batch_id = '${made!.id}' and not e.problems && '{PlaceUnknown,WarehouseWithoutGln}'`,
      );
      assert.deepEqual(found, [{ event: null, problems: ["BatchNumberNotAllowed"] }]);
    } finally {
      await used.client.query("rollback");
    }
  });
});
