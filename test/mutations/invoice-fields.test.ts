import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { InvoiceFieldShop } from "./invoice-fields.ts";
import { openInvoiceFieldShop, outcomes } from "./invoice-fields.ts";

// What upserts share is tested with products
let shop: InvoiceFieldShop;
before(async () => {
  shop = await openInvoiceFieldShop();
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

/** Changes of fields of a type, read by `node`. `next` are other values; the fields in `kept` have no null. */
interface Case {
  upsert(row: object): Promise<any>;
  node(payload: any): any;
  values: Record<string, unknown>;
  next: Record<string, unknown>;
  kept: Record<string, unknown>;
}

const cases: Record<string, Case> = {
  customersUpsert: {
    upsert: (row) => shop.customers([{ ...shop.customerRow, ...row }]),
    node: ({ customers: [node] }) => node,
    values: {
      ...{ invoiceForm: "xrechnung", buyerReference: "04011000-12345-34" },
      ...{ electronicAddress: "invoices@b.example", electronicAddressScheme: "EM", registrationId: "HRB 1" },
    },
    next: { invoiceForm: "zugferd", electronicAddress: "0204:1", electronicAddressScheme: "0204" },
    kept: { invoiceForm: "zugferd" },
  },
  ordersUpsert: {
    upsert: (row) => shop.orders([{ ...shop.orderRow, ...row }]),
    node: ({ orders: [node] }) => node,
    values: {
      ...{ buyerReference: "Dept. 7", purchaseOrderNumber: "PO-1", dueDate: "2026-12-31", paidAmount: 12.34 },
      ...{ exchangeRate: 1.0842, exchangeRateDate: "2026-11-27", exchangeRateSource: "ecb" },
    },
    next: { dueDate: "2027-02-28", paidAmount: 0, exchangeRate: 1.09 },
    kept: {},
  },
  "ordersUpsert, lines": {
    upsert: (row) => shop.orders([shop.withLine(row)]),
    node: ({ orders: [{ lineItems }] }) => lineItems.edges[0].node,
    values: {
      ...{ taxCategory: "AE", exemptionCode: "VATEX-EU-AE" },
      ...{ discountReason: "Regular customer", unitCode: "KGM" },
    },
    next: { taxCategory: "E", exemptionCode: "VATEX-EU-132-1A", unitCode: "C62" },
    kept: {},
  },
  productsUpsert: {
    upsert: (row) => shop.products([{ productNumber: "hammer", ...row }]),
    node: ({ products: [node] }) => node,
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
        const found = node(payload);
        return [
          outcomes(payload),
          Object.fromEntries(Object.keys(values).map((field) => [field, found[field]])),
        ];
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
    customers: [(row) => shop.customers([{ ...shop.customerRow, ...row }]), "customers.0."],
    orders: [(row) => shop.orders([{ ...shop.orderRow, ...row }]), "orders.0."],
    lines: [(row) => shop.orders([shop.withLine(row)]), "orders.0.lineItems.0."],
    products: [(row) => shop.products([{ productNumber: "hammer", ...row }]), "products.0."],
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
    const wrong = {
      ...shop.customerRow,
      customerNumber: "C-2",
      email: "c@b.example",
      electronicAddress: "x",
    };
    const answer = await shop.customers([wrong, { ...shop.customerRow, registrationId: "HRB 2" }], {
      partial: true,
    });
    assert.equal(outcomes(answer), "REFUSED UPDATED");
    assert.equal(answer.customers[0].registrationId, "HRB 2");
  });
});
