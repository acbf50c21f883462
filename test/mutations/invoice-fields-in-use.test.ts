import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { ended, jsonl, linesAt, startTestBulk, upload } from "../bulk/support.ts";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { InvoiceFieldShop } from "./invoice-fields.ts";
import { openInvoiceFieldShop, outcomes } from "./invoice-fields.ts";

let shop: InvoiceFieldShop;
before(async () => {
  shop = await openInvoiceFieldShop();
  await shop.customers([shop.customerRow]);
  await shop.orders([shop.withLine({})]);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

describe("fields of invoices", () => {
  it("have defaults in new rows", async () => {
    const row = { ...shop.customerRow, customerNumber: "C-3", email: "d@b.example" };
    const { customers: made } = await shop.customers([row]);
    assert.deepEqual(made[0], {
      ...{ invoiceForm: "pdf", buyerReference: null, registrationId: null },
      ...{ electronicAddress: null, electronicAddressScheme: null },
    });
  });

  it("round what is paid to cents, in new and in present orders", async () => {
    const row = { ...shop.orderRow, orderNumber: "O-2" };
    for (const [paidAmount, rounded] of [
      [1.005, 1.01],
      [2.994, 2.99],
    ])
      assert.equal((await shop.orders([{ ...row, paidAmount }])).orders[0].paidAmount, rounded);
    assert.equal(outcomes(await shop.orders([{ ...row, paidAmount: 2.993 }])), "UNCHANGED");
  });

  it("are safe to repeat by their key", async () => {
    const idempotencyKey = "invoice-fields";
    const send = (registrationId: string) =>
      shop.customers([{ customerNumber: "C-1", registrationId }], { idempotencyKey });
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
    await shop.customers([{ customerNumber: "C-1", invoiceForm: "xrechnung", buyerReference: "7" }]);
    await shop.orders([{ ...shop.orderRow, dueDate: "2026-12-24", paidAmount: 5.5 }]);
    await shop.products([{ productNumber: "hammer", unitCode: "H87" }]);
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
    const row = shop.withLine({ taxCategory: "E", exemptionCode: "VATEX-EU-132-1A", taxRate: 0 });
    const { orders: made } = await shop.orders([{ ...row, orderNumber: "O-3" }]);
    const id = made[0].lineItems.edges[0].node.id;
    const change = async (changes: object) =>
      refusals(await shop.orders([{ orderNumber: "O-3", lineItems: [{ id, ...changes }] }]));
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
        ...{ ...shop.customerRow, customerNumber, email: `${n}@bulk.example` },
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
        `B-1,${shop.customerRow.salesChannelId},2026-12-31,4.5,hammer,1,KGM`,
        `B-2,${shop.customerRow.salesChannelId},2026-13-31,4.5,hammer,1,KGM`,
        `B-3,${shop.customerRow.salesChannelId},2026-12-31,-4.5,hammer,1,kg`,
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
