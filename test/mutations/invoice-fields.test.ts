import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { addChannel, ended, jsonl, linesAt, startTestBulk, upload } from "../bulk/support.ts";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// What upserts share is tested with products
let shop: ShippingShop;
let channel: string;
before(async () => {
  shop = await openShippingShop();
  channel = await addChannel(shop);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const results = "results { outcome userErrors { code field } }";
const outcomes = ({ results: rows }: any) => rows.map(({ outcome }: any) => outcome).join(" ");

/** Changes of fields of a type, read by `nodes`. `next` are other values; the fields in `kept` have no null. */
interface Case {
  upsert(row: object): Promise<any>;
  node(payload: any): any;
  row: object;
  values: Record<string, unknown>;
  next: Record<string, unknown>;
  kept: Record<string, unknown>;
}

const customer = {
  ...{ customerNumber: "C-1", email: "a@b.example", firstName: "A", lastName: "B" },
  get salesChannelId() {
    return channel;
  },
};
const customers = (rows: object[], more = {}) =>
  shop.mutate(
    "customersUpsert",
    { customers: rows, ...more },
    {
      select: `${results} customers { invoiceForm buyerReference electronicAddress electronicAddressScheme registrationId }`,
    },
  );
const order = {
  orderNumber: "O-1",
  get salesChannelId() {
    return channel;
  },
};
const lineFields = "taxCategory exemptionCode discountReason unitCode";
const orders = (rows: object[], more = {}) =>
  shop.mutate(
    "ordersUpsert",
    { orders: rows, ...more },
    {
      select: `${results} orders { id buyerReference purchaseOrderNumber dueDate paidAmount exchangeRate exchangeRateDate
        exchangeRateSource lineItems { edges { node { id ${lineFields} } } } }`,
    },
  );
const line = { identifier: "L", productNumber: "hammer", quantity: 2, unitPrice: 10 };
const withLine = (changes: object) => ({ ...order, lineItems: [{ ...line, ...changes }] });
const products = (rows: object[]) =>
  shop.mutate("productsUpsert", { products: rows }, { select: `${results} products { unitCode }` });

const cases: Record<string, Case> = {
  customersUpsert: {
    upsert: (row) => customers([{ ...customer, ...row }]),
    node: ({ customers: [node] }) => node,
    row: customer,
    values: {
      ...{ invoiceForm: "xrechnung", buyerReference: "04011000-12345-34" },
      ...{ electronicAddress: "invoices@b.example", electronicAddressScheme: "EM", registrationId: "HRB 1" },
    },
    next: { invoiceForm: "zugferd", electronicAddress: "0204:1", electronicAddressScheme: "0204" },
    kept: { invoiceForm: "zugferd" },
  },
  ordersUpsert: {
    upsert: (row) => orders([{ ...order, ...row }]),
    node: ({ orders: [{ id, lineItems, ...node }] }) => node,
    row: order,
    values: {
      ...{ buyerReference: "Dept. 7", purchaseOrderNumber: "PO-1", dueDate: "2026-12-31", paidAmount: 12.34 },
      ...{ exchangeRate: 1.0842, exchangeRateDate: "2026-11-27", exchangeRateSource: "ecb" },
    },
    next: { dueDate: "2027-02-28", paidAmount: 0, exchangeRate: 1.09 },
    kept: {},
  },
  "ordersUpsert, lines": {
    upsert: (row) => orders([withLine(row)]),
    node: ({ orders: [{ lineItems }] }) => {
      const { id, ...node } = lineItems.edges[0].node;
      return node;
    },
    row: {},
    values: {
      ...{ taxCategory: "AE", exemptionCode: "VATEX-EU-AE" },
      ...{ discountReason: "Regular customer", unitCode: "KGM" },
    },
    next: { taxCategory: "E", exemptionCode: "VATEX-EU-132-1A", unitCode: "C62" },
    kept: {},
  },
  productsUpsert: {
    upsert: (row) => products([{ productNumber: "hammer", ...row }]),
    node: ({ products: [node] }) => node,
    row: {},
    values: { unitCode: "KGM" },
    next: { unitCode: "H87" },
    kept: {},
  },
};

for (const [name, { upsert, node, values, next, kept }] of Object.entries(cases))
  describe(`fields of invoices in ${name}`, () => {
    it("are stored, kept when omitted, changed, and cleared by null", async () => {
      await upsert({});
      const send = async (row: object) => {
        const payload = await upsert(row);
        assert.deepEqual(refusals(payload), []);
        return [outcomes(payload), node(payload)];
      };
      assert.deepEqual(await send(values), ["UPDATED", values]);
      assert.deepEqual(await send({}), ["UNCHANGED", values]);
      assert.deepEqual(await send(values), ["UNCHANGED", values]);
      assert.deepEqual(await send(next), ["UPDATED", { ...values, ...next }]);
      const nulls = Object.fromEntries(Object.keys(values).map((field) => [field, null]));
      assert.deepEqual(await send({ ...nulls, ...kept }), ["UPDATED", { ...nulls, ...kept }]);
    });
  });

// Too long texts are refused in text-bounds.test.ts
const mistakes: [name: string, rows: object, code: string, field: string][] = [
  ["customers", { invoiceForm: null }, "REQUIRED", "invoiceForm"],
  ["customers", { electronicAddress: "a@b.example" }, "REQUIRED", "electronicAddressScheme"],
  ["customers", { electronicAddressScheme: "EM" }, "REQUIRED", "electronicAddressScheme"],
  ...["em", "204", "E-MAIL", ""].map((electronicAddressScheme): [string, object, string, string] => [
    ...(["customers", { electronicAddress: "a@b.example", electronicAddressScheme }, "INVALID"] as const),
    "electronicAddressScheme",
  ]),
  ["orders", { paidAmount: -0.01 }, "OUT_OF_RANGE", "paidAmount"],
  ["orders", { paidAmount: 1e15 }, "OUT_OF_RANGE", "paidAmount"],
  ["orders", { exchangeRate: 1.1 }, "REQUIRED", "exchangeRate"],
  ["orders", { exchangeRate: 1.1, exchangeRateDate: "2026-11-27" }, "REQUIRED", "exchangeRate"],
  ["orders", { exchangeRateDate: "2026-11-27", exchangeRateSource: "ecb" }, "REQUIRED", "exchangeRate"],
  ...[0, -1, 1e9].map((exchangeRate): [string, object, string, string] => [
    "orders",
    { exchangeRate, exchangeRateDate: "2026-11-27", exchangeRateSource: "ecb" },
    "OUT_OF_RANGE",
    "exchangeRate",
  ]),
  ...["infinity", "10000-01-01", "1899-12-31"].flatMap((date): [string, object, string, string][] => [
    ["orders", { dueDate: date }, "OUT_OF_RANGE", "dueDate"],
    [
      ...(["orders", { exchangeRate: 1, exchangeRateDate: date, exchangeRateSource: "ecb" }] as const),
      ...(["OUT_OF_RANGE", "exchangeRateDate"] as const),
    ],
  ]),
  ["lines", { taxCategory: "X" }, "INVALID", "taxCategory"],
  ["lines", { taxCategory: "S", taxRate: 0 }, "INVALID", "taxCategory"],
  ["lines", { taxCategory: "Z", taxRate: 7 }, "INVALID", "taxCategory"],
  ["lines", { taxCategory: "AE", taxRate: 0, exemptionCode: "EU-AE" }, "INVALID", "exemptionCode"],
  ["lines", { taxCategory: "Z", taxRate: 0, exemptionCode: "VATEX-EU-O" }, "INVALID", "exemptionCode"],
  ["lines", { taxCategory: null, taxRate: 0, exemptionCode: "VATEX-EU-O" }, "INVALID", "exemptionCode"],
  ["lines", { unitCode: "piece" }, "INVALID", "unitCode"],
  ["lines", { unitCode: "kgm" }, "INVALID", "unitCode"],
  ["products", { unitCode: "kilogram" }, "INVALID", "unitCode"],
];

describe("a mistake in fields of invoices", () => {
  const places: Record<string, [send: (row: object) => Promise<any>, path: string]> = {
    customers: [(row) => customers([{ ...customer, ...row }]), "customers.0."],
    orders: [(row) => orders([{ ...order, ...row }]), "orders.0."],
    lines: [(row) => orders([withLine(row)]), "orders.0.lineItems.0."],
    products: [(row) => products([{ productNumber: "hammer", ...row }]), "products.0."],
  };
  for (const [name, row, code, field] of mistakes)
    it(`is refused with its field: ${field} of ${name}, ${JSON.stringify(row).slice(0, 80)}`, async () => {
      const [send, path] = places[name]!;
      assert.deepEqual(refusals(await send(row)), [[code, path + field]]);
    });

  it("is one of GraphQL in an enum or a date", async () => {
    const token = await shop.token({ write: ["customers", "orders"] });
    const send = async (input: string) => {
      const query = `mutation { ${input} { userErrors { code } } }`;
      return (await shop.ask(token, { query })).codes;
    };
    const form = 'customersUpsert(input: { customers: [{ customerNumber: "C-1", invoiceForm: ubl }] })';
    assert.deepEqual(await send(form), ["GRAPHQL_VALIDATION_FAILED"]);
    for (const date of ["2026-02-30", "soon"]) {
      const due = `ordersUpsert(input: { orders: [{ orderNumber: "O-1", dueDate: "${date}" }] })`;
      assert.deepEqual(await send(due), ["GRAPHQL_VALIDATION_FAILED"], date);
    }
  });

  it("refuses its row alone in a partial call", async () => {
    const wrong = { ...customer, customerNumber: "C-2", email: "c@b.example", electronicAddress: "x" };
    const answer = await customers([wrong, { ...customer, registrationId: "HRB 2" }], { partial: true });
    assert.equal(outcomes(answer), "REFUSED UPDATED");
    assert.equal(answer.customers[0].registrationId, "HRB 2");
  });
});

describe("fields of invoices", () => {
  it("have defaults in new rows", async () => {
    const row = { ...customer, customerNumber: "C-3", email: "d@b.example" };
    const { customers: made } = await customers([row]);
    assert.deepEqual(made[0], {
      ...{ invoiceForm: "pdf", buyerReference: null, registrationId: null },
      ...{ electronicAddress: null, electronicAddressScheme: null },
    });
  });

  it("round what is paid to cents, in new and in present orders", async () => {
    const row = { ...order, orderNumber: "O-2" };
    for (const [paidAmount, rounded] of [
      [1.005, 1.01],
      [2.994, 2.99],
    ])
      assert.equal((await orders([{ ...row, paidAmount }])).orders[0].paidAmount, rounded);
    assert.equal(outcomes(await orders([{ ...row, paidAmount: 2.993 }])), "UNCHANGED");
  });

  it("are safe to repeat by their key", async () => {
    const idempotencyKey = "invoice-fields";
    const send = (registrationId: string) =>
      customers([{ customerNumber: "C-1", registrationId }], { idempotencyKey });
    const first = await send("HRB 3");
    assert.equal(outcomes(first), "UPDATED");
    await shop.sql("update erp.customer set registration_id = 'HRB 4' where customer_number = 'C-1'");
    assert.equal(outcomes(await send("HRB 3")), "UPDATED");
    const [row] = await shop.sql("select registration_id from erp.customer where customer_number = 'C-1'");
    assert.equal(row.registration_id, "HRB 4");
    assert.deepEqual(refusals(await send("HRB 5")), [["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"]]);
  });

  it("are in events, which name what changed", async () => {
    await sequence(shop.owner);
    const end = await endOfLog(shop.owner);
    await customers([{ customerNumber: "C-1", invoiceForm: "xrechnung", buyerReference: "7" }]);
    await orders([{ ...order, dueDate: "2026-12-24", paidAmount: 5.5 }]);
    await products([{ productNumber: "hammer", unitCode: "H87" }]);
    await sequence(shop.owner);
    const events = (await logAfter(shop.owner, end)).map(({ topic, changed_fields: names, data }) => [
      topic,
      Object.fromEntries(names!.map((name: string) => [name, data[name]])),
    ]);
    assert.deepEqual(events, [
      ["customer.updated", { invoiceForm: "xrechnung", buyerReference: "7" }],
      ["order.updated", { dueDate: "2026-12-24", paidAmount: 5.5 }],
      ["product.updated", { unitCode: "H87" }],
    ]);
  });

  it("that decide the tax don't change once units are invoiced; texts and units do", async () => {
    const row = withLine({ taxCategory: "E", exemptionCode: "VATEX-EU-132-1A", taxRate: 0 });
    const { orders: made } = await orders([{ ...row, orderNumber: "O-3" }]);
    const id = made[0].lineItems.edges[0].node.id;
    const change = async (changes: object) =>
      refusals(await orders([{ orderNumber: "O-3", lineItems: [{ id, ...changes }] }]));
    await shop.sql(
      "update erp.sales_order_line_item set shipped_quantity = 1, invoiced_quantity = 1 where id = $1",
      id,
    );
    for (const changes of [{ taxCategory: "AE" }, { taxCategory: "K" }])
      assert.deepEqual(await change(changes), [["NOT_EDITABLE", "orders.0.lineItems.0.taxCategory"]]);
    for (const changes of [{ exemptionCode: "VATEX-EU-132-1B" }, { exemptionCode: null }])
      assert.deepEqual(await change(changes), [["NOT_EDITABLE", "orders.0.lineItems.0.exemptionCode"]]);
    assert.deepEqual(await change({ taxCategory: "E", unitCode: "KGM", discountReason: "Scratched" }), []);
    // A made-up invoice, which the books of the shop would miss
    await shop.sql(
      "update erp.sales_order_line_item set shipped_quantity = 0, invoiced_quantity = 0 where id = $1",
      id,
    );
    assert.deepEqual(await change({ taxCategory: "AE", exemptionCode: null }), []);
  });

  it("are imported from files, whose refusals name line and field", async () => {
    const bulk = startTestBulk(shop);
    try {
      const token = await shop.token({ read: "all", write: "all" });
      const load = async (resource: string, file: string, options = {}) => {
        const { status, body, text } = await upload(shop, token, resource, file, options);
        assert.equal(status, 202, text);
        const done = await ended(shop, token, body.bulkOperation.id);
        return [
          done.createdCount,
          (await linesAt(shop, done.errorsUrl)).map(({ line: n, code, field }: any) => [
            n,
            code,
            field.join("."),
          ]),
        ];
      };
      const file = ["B-1", "B-2", "B-3"].map((customerNumber, n) => ({
        ...{ ...customer, customerNumber, email: `${n}@bulk.example` },
        invoiceForm: ["zugferd", "ubl", "xrechnung"][n],
        electronicAddress: "a@bulk.example",
        electronicAddressScheme: n === 2 ? null : "EM",
      }));
      assert.deepEqual(await load("customers", jsonl(file)), [
        1,
        [
          [2, "INVALID", "invoiceForm"],
          [3, "REQUIRED", "electronicAddressScheme"],
        ],
      ]);
      const names = "orderNumber,salesChannelId,dueDate,paidAmount,lineItems.0.productNumber";
      const csv = [
        `${names},lineItems.0.quantity,lineItems.0.unitCode`,
        `B-1,${channel},2026-12-31,4.5,hammer,1,KGM`,
        `B-2,${channel},2026-13-31,4.5,hammer,1,KGM`,
        `B-3,${channel},2026-12-31,-4.5,hammer,1,kg`,
      ].join("\n");
      assert.deepEqual(await load("orders", csv, { type: "text/csv" }), [
        1,
        [
          [3, "INVALID", "dueDate"],
          [4, "INVALID", "lineItems.0.unitCode"],
          [4, "OUT_OF_RANGE", "paidAmount"],
        ],
      ]);
    } finally {
      await bulk.stop();
    }
    const { orders: found } = await shop.read(
      `{ orders(first: 1, filter: { orderNumber: { equals: "B-1" } }) { edges { node { dueDate paidAmount
        lineItems { edges { node { unitCode } } } } } } }`,
    );
    assert.deepEqual(found.edges[0].node, {
      ...{ dueDate: "2026-12-31", paidAmount: 4.5 },
      lineItems: { edges: [{ node: { unitCode: "KGM" } }] },
    });
  });
});
