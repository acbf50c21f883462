import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { uuidOf } from "../lib/ids.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";
import type { ShopOrder, OrderLine, ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// Documents of shipments: each lists its parcel, and no unit is charged twice
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ versions, poolSize: 12 });
  for (const product of ["nail", "hammer"]) await shop.store(product, "A-1", 10_000);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const documents =
  "documents { id documentNumber config documentType { technicalName } referencedDocument { documentNumber } }";
const nails = (quantity: number, price = 1): OrderLine => ({ product: "nail", quantity, price, taxRate: 19 });
const hammers = (quantity: number, price = 1): OrderLine => ({
  product: "hammer",
  quantity,
  price,
  taxRate: 7,
});

/** An order that the hall ships. */
const assigned = (lines: OrderLine[]): Promise<ShopOrder> => {
  const goods = lines.flatMap(({ product }, n) => (product ? [n] : []));
  return shop.order(lines, [{ lines: goods.map((n) => [n, lines[n]!.quantity]) }]);
};
/** Ships units of lines of the first fulfillment order of an order. */
const parcel = async (order: ShopOrder, parts: [line: number, quantity: number][], rest: object = {}) => {
  const [fulfillmentOrder] = order.fulfillmentOrders;
  const lines = parts.map(([line, quantity]) => ({
    fulfillmentOrderLineItemId: fulfillmentOrder!.lines[line],
    quantity,
  }));
  return shop.mutate(
    "fulfillmentCreate",
    { fulfillmentOrderId: fulfillmentOrder!.id, lines, ...rest },
    { select: `fulfillment { id } ${documents} warnings { code field details }` },
  );
};
const complete = (order: ShopOrder, rest: object = {}, options: object = {}) =>
  shop.mutate(
    "orderShipmentComplete",
    { orderId: order.id, ...rest },
    { select: `fulfillments { id } ${documents}`, ...options },
  );
const cancel = (fulfillment: { id: string }, options: object = {}) =>
  shop.mutate("fulfillmentCancel", { id: fulfillment.id }, { select: documents, ...options });

const types = ({ documents }: any) => documents.map((d: any) => d.documentType.technicalName);
const linesOf = ({ config }: any) => config.lines.map((line: any) => [line.label, line.quantity]);
const totals = ({ config }: any) => config.totals;

/** Charges for an order: documents that are not cancelled, and their sums by rate. */
async function charged(order: ShopOrder) {
  const { order: read } = await shop.read(
    `query ($id: ID!) { order(id: $id) { amountNet amountTotal documents(first: 250) { edges { node { ${documents.slice(12, -2)} } } } } }`,
    { id: order.id },
  );
  const made = read.documents.edges.map(({ node }: any) => node);
  const priced = made.filter(({ config }: any) => config.totals !== null);
  const cents = (pick: (t: any) => number) =>
    priced.reduce((sum: number, document: any) => sum + Math.round(pick(totals(document)) * 100), 0);
  return {
    made,
    total: cents(({ total }) => total),
    net: cents(({ net }) => net),
    order: [Math.round(read.amountTotal * 100), Math.round(read.amountNet * 100)],
  };
}

describe("a delivery note", () => {
  it("lists what is in its parcel, what it is the rest of, and what is still to come", async () => {
    const order = await assigned([nails(5), hammers(2)]);
    const one = await parcel(order, [[0, 2]], { documents: ["delivery_note"] });
    assert.deepEqual(one.userErrors, []);
    const [{ config }] = one.documents;
    assert.deepEqual(linesOf(one.documents[0]), [["nail", 2]]);
    assert.deepEqual(
      [config.lines[0].orderedQuantity, config.lines[0].shippedBefore, config.totals],
      [5, 0, null],
    );
    assert.deepEqual(config.outstanding, [
      { label: "nail", productNumber: "nail", quantity: 3 },
      { label: "hammer", productNumber: "hammer", quantity: 2 },
    ]);

    const rest = await complete(order, { documents: ["delivery_note"] });
    assert.deepEqual(linesOf(rest.documents[0]), [
      ["nail", 3],
      ["hammer", 2],
    ]);
    const [first, second] = rest.documents[0].config.lines;
    assert.deepEqual([first.orderedQuantity, first.shippedBefore], [5, 2]);
    assert.deepEqual([second.orderedQuantity, rest.documents[0].config.outstanding], [undefined, []]);
  });

  it("does so in the frozen version as well", async () => {
    const order = await assigned([nails(5)]);
    await parcel(order, [[0, 2]]);
    const rest = await complete(
      order,
      { documents: ["delivery_note", "invoice"] },
      { version: "2026-06-unstable" },
    );
    assert.deepEqual(rest.documents.map(linesOf), [[["nail", 3]], [["nail", 5]]]);
  });
});

describe("an invoice", () => {
  it("charges what was shipped and no other charges, and each comes to its part of the order", async () => {
    const order = await assigned([
      nails(3, 3.33),
      hammers(7, 9.99),
      { quantity: 1, type: "shipping", price: 4.9, taxRate: 19 },
      { quantity: 1, type: "promotion", price: -10 },
      { quantity: 1, type: "credit", price: -0.01 },
    ]);
    await shop.sql(
      "update erp.sales_order_line_item set total_price = 10 where order_id = $1 and label = 'nail'",
      order.id,
    );
    const one = await parcel(order, [[0, 1]], { documents: ["invoice"] });
    const two = await parcel(
      order,
      [
        [0, 1],
        [1, 2],
      ],
      { documents: ["invoice"] },
    );
    const three = await complete(order, { documents: ["invoice"] });
    assert.deepEqual(linesOf(one.documents[0]), [
      ["nail", 1],
      ["shipping", 1],
      ["promotion", 1],
    ]);
    assert.deepEqual(linesOf(two.documents[0]).slice(0, 2), [
      ["nail", 1],
      ["hammer", 2],
    ]);
    assert.ok(!linesOf(two.documents[0]).some(([label]: any) => label === "shipping"));
    assert.deepEqual(linesOf(three.documents[0]).slice(0, 2), [
      ["nail", 1],
      ["hammer", 5],
    ]);
    assert.equal(one.documents[0].config.lines.at(-1).isShare, true);
    // A parcel of things at 7 % has no tax at 19 %
    assert.deepEqual(
      [one, two, three].map(({ documents }) => documents[0].config.totals.taxes.map(({ rate }: any) => rate)),
      [[19], [7, 19], [7, 19]],
    );
    const all = await charged(order);
    assert.deepEqual([all.total, all.net], all.order);
  });

  it("equals the order to the cent, for any parcels, prices and discounts", async () => {
    let seed = 7;
    const roll = (sides: number) => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 1) % sides;
    for (let n = 0; n < 12; n++) {
      const goods = Array.from({ length: 1 + roll(4) }, (_, i) => ({
        product: i % 2 ? "nail" : "hammer",
        quantity: 1 + roll(7),
        price: roll(10_000) / 100,
        taxRate: [19, 7, 0, 5.5][roll(4)]!,
      }));
      const order = await assigned([
        ...goods,
        ...(roll(2) ? [{ quantity: 1, type: "promotion", price: -roll(2_000) / 100 }] : []),
        ...(roll(2) ? [{ quantity: 2, type: "shipping", price: roll(900) / 100, taxRate: 19 }] : []),
        ...(roll(2) ? [{ quantity: 1, type: "credit", price: -roll(300) / 100 }] : []),
      ]);
      const taxStatus = ["gross", "net", "tax-free"][n % 3]!;
      await shop.sql(`update erp.sales_order set tax_status = '${taxStatus}' where id = $1`, order.id);
      const left = goods.map(({ quantity }) => quantity);
      const shipped: any[] = [];
      while (left.some((quantity) => quantity > 0)) {
        const line = left.findIndex((quantity) => quantity > 0);
        const quantity = 1 + roll(left[line]!);
        left[line]! -= quantity;
        const made = await parcel(order, [[line, quantity]], { documents: ["invoice"] });
        assert.deepEqual(made.userErrors, []);
        shipped.push(made.fulfillment);
        const { totals, lines } = made.documents[0].config;
        const sum = lines.reduce((sum: number, { total }: any) => sum + Math.round(total * 100), 0);
        assert.equal(sum, Math.round((taxStatus === "net" ? totals.net : totals.total) * 100));
        // Rounded once for each rate
        for (const { rate, net, tax } of totals.taxes)
          assert.equal(Math.round(net * 100), Math.round(((net + tax) * 10_000) / (100 + rate)));
        // Sometimes one comes back, and is sent and charged again
        if (roll(4) === 0) {
          const back = await cancel(made.fulfillment);
          assert.deepEqual(types(back), ["storno"]);
          left[line]! += quantity;
        }
      }
      const all = await charged(order);
      assert.equal(all.total, all.order[0], `order ${n}, ${taxStatus}`);
      const cents = all.made.length + goods.length;
      assert.ok(Math.abs(all.net - all.order[1]!) <= cents, "the net amount is rounded for each document");
    }
  });

  it("takes up parcels that were sent without one", async () => {
    const order = await assigned([nails(5)]);
    await parcel(order, [[0, 2]]);
    const { documents } = await complete(order, { documents: ["invoice"] });
    assert.deepEqual(linesOf(documents[0]), [["nail", 5]]);
    const today = new Date().toISOString().slice(0, 10);
    assert.equal(documents[0].config.deliveryDate.to, today);
  });

  it("isn't made when nothing is left to charge; the goods are shipped, and a warning says so", async () => {
    const order = await assigned([nails(5)]);
    await shop.sql("select erp.create_document($1, 'invoice')", order.id);
    const [{ number }] = await shop.sql(
      "select document_number as number from erp.document where order_id = $1",
      order.id,
    );
    const select = "documents { id } warnings { code message field details }";
    const wanted = { documents: ["delivery_note", "invoice"] };
    const { userErrors, warnings, documents } = await complete(order, wanted, { select });
    assert.deepEqual([userErrors, documents.length], [[], 1]);
    assert.deepEqual(
      warnings.map(({ code, field }: any) => [code, field.join(".")]),
      [["DOCUMENT_NOT_MADE", "documents.1"]],
    );
    assert.match(warnings[0].message, /has been invoiced already/);
    assert.deepEqual(warnings[0].details.invoices, [number]);
    assert.deepEqual((await shop.stateOf(order)).shipped, [5]);
  });

  it("cannot charge a unit twice, for any writer", async () => {
    const order = await assigned([nails(5)]);
    await complete(order, { documents: ["invoice"] });
    await assert.rejects(
      shop.sql(
        `with made as (
           insert into erp.document (document_type_id, order_id, document_number, deep_link_code)
           select t.id, $1, 'BY-HAND', repeat('x', 40) from erp.document_type t where t.technical_name = 'invoice' returning id),
         invoice as (insert into erp.invoice (document_id) select id from made returning document_id)
         insert into erp.invoice_line_item (document_id, order_line_item_id, quantity)
         select i.document_id, l.id, 1 from invoice i, erp.sales_order_line_item l where l.order_id = $1`,
        order.id,
      ),
      /order_line_item_invoices_no_more_than_ordered/,
    );
    await assert.rejects(
      shop.sql(
        "update erp.sales_order_line_item set quantity = 4, shipped_quantity = 4 where order_id = $1",
        order.id,
      ),
      /order_line_item_invoices_no_more_than_ordered|ships_no_more/,
    );
  });
});

describe("fulfillmentCancel of what was invoiced", () => {
  it("cancels the invoice by a document that refers to it; shipped again, it is invoiced again", async () => {
    const order = await assigned([nails(5, 2)]);
    const { fulfillments, documents } = await complete(order, { documents: ["invoice"] });
    const cancelled = await cancel(fulfillments[0]);
    assert.deepEqual(cancelled.userErrors, []);
    assert.deepEqual(types(cancelled), ["storno"]);
    const [storno] = cancelled.documents;
    assert.equal(storno.referencedDocument.documentNumber, documents[0].documentNumber);
    assert.equal(storno.config.referencedDocumentDate, documents[0].config.documentDate);
    assert.deepEqual(storno.config.deliveryDate, documents[0].config.deliveryDate);
    assert.deepEqual([totals(storno).total, totals(storno).net], [-10, -8.4]);
    assert.equal((await charged(order)).total, 0);

    const again = await complete(order, { documents: ["invoice"] });
    assert.deepEqual(types(again), ["invoice"]);
    assert.notEqual(again.documents[0].documentNumber, documents[0].documentNumber);
    const all = await charged(order);
    assert.deepEqual([all.total, all.net], all.order);
    assert.deepEqual(
      all.made.map(({ documentType }: any) => documentType.technicalName),
      ["invoice", "storno", "invoice"],
    );
  });

  it("does so in the frozen version as well, and for repetitions only once", async () => {
    const order = await assigned([nails(5)]);
    const { fulfillments } = await complete(order, { documents: ["invoice"] });
    const input = { id: fulfillments[0].id, idempotencyKey: `back ${order.id}` };
    const options = { select: "fulfillment { state }", version: "2026-06-unstable" };
    for (let i = 0; i < 2; i++)
      assert.equal((await shop.mutate("fulfillmentCancel", input, options)).fulfillment.state, "Cancelled");
    assert.equal((await charged(order)).made.length, 2);
  });

  it("charges what else was on the invoice by a new one", async () => {
    const order = await assigned([nails(5, 1.11), { quantity: 1, type: "promotion", price: -2 }]);
    const one = await parcel(order, [[0, 2]]);
    await complete(order, { documents: ["invoice"] });
    const cancelled = await cancel(one.fulfillment);
    assert.deepEqual(types(cancelled), ["storno", "invoice"]);
    assert.deepEqual(linesOf(cancelled.documents[1]), [
      ["nail", 3],
      ["promotion", 1],
    ]);
    const again = await complete(order, { documents: ["invoice"] });
    assert.deepEqual(linesOf(again.documents[0]), [
      ["nail", 2],
      ["promotion", 1],
    ]);
    const all = await charged(order);
    assert.deepEqual([all.total, all.net], all.order);
  });

  it("leaves invoices of other parcels alone, and those of whole orders", async () => {
    const order = await assigned([nails(5)]);
    const one = await parcel(order, [[0, 2]], { documents: ["invoice"] });
    const two = await parcel(order, [[0, 2]], { documents: ["invoice"] });
    const cancelled = await cancel(two.fulfillment);
    assert.deepEqual(
      cancelled.documents.map((d: any) => d.referencedDocument.documentNumber),
      [two.documents[0].documentNumber],
    );
    assert.deepEqual((await cancel(one.fulfillment)).documents.length, 1);

    const prepaid = await assigned([nails(5)]);
    await shop.sql("select erp.create_document($1, 'invoice')", prepaid.id);
    const { fulfillments } = await complete(prepaid);
    assert.deepEqual((await cancel(fulfillments[0])).documents, []);
    const plain = await assigned([nails(5)]);
    assert.deepEqual((await cancel((await complete(plain)).fulfillments[0])).documents, []);
  });

  it("is done once by ten clients, and numbers have no gaps", async () => {
    const numbers = async (prefix: string) =>
      (
        await shop.sql(
          `select substr(document_number, ${prefix.length + 1})::int as n from erp.document where document_number like '${prefix}%' order by 1`,
        )
      ).map(({ n }) => n as number);
    const order = await assigned([nails(5)]);
    const { fulfillments } = await complete(order, { documents: ["invoice"] });
    const payloads = await Promise.all(Array.from({ length: 10 }, () => cancel(fulfillments[0])));
    assert.equal(payloads.filter(({ userErrors }) => userErrors.length === 0).length, 1);
    assert.equal((await charged(order)).made.length, 2);
    const others = await Promise.all(Array.from({ length: 6 }, () => assigned([nails(1)])));
    await Promise.all(
      others.map((other, n) =>
        complete(other, {
          documents: n % 2 ? ["invoice", "delivery_note"] : ["delivery_note", "invoice"],
        }),
      ),
    );
    for (const prefix of ["INV-", "DN-", "ST-"]) {
      const found = await numbers(prefix);
      assert.deepEqual(
        found,
        found.map((_, n) => found[0]! + n),
      );
    }
  });

  it("frees the units when the storno is made otherwise, which can happen once", async () => {
    const order = await assigned([nails(5)]);
    const { documents } = await complete(order, { documents: ["invoice"] });
    await shop.sql("select erp.create_document($1, 'storno')", order.id);
    await assert.rejects(
      shop.sql(
        `insert into erp.document (document_type_id, order_id, referenced_document_id, document_number, deep_link_code)
         select t.id, $1, $2, 'ST-HAND', repeat('y', 40) from erp.document_type t where t.technical_name = 'storno'`,
        order.id,
        documents[0].id,
      ),
      /taken back already/,
    );
    const [{ invoiced }] = await shop.sql(
      "select invoiced_quantity as invoiced from erp.sales_order_line_item where order_id = $1",
      order.id,
    );
    assert.equal(invoiced, 0);
  });

  it("is gone when its documents are deleted after their years, in whichever order they lie", async () => {
    await shop.sql("alter table erp.document disable trigger keep_documents");
    for (const last of ["invoice", "storno"]) {
      const order = await assigned([nails(5)]);
      await complete(order, { documents: ["invoice"] });
      await shop.sql("select erp.create_document($1, 'storno')", order.id);
      // With another number, which an index has, it lies behind the others
      await shop.sql(
        `update erp.document d set document_number = document_number || '-A' from erp.document_type t
         where d.order_id = $1 and t.id = d.document_type_id and t.technical_name = '${last}'`,
        order.id,
      );
      await shop.sql("delete from erp.document where order_id = $1", order.id);
      assert.deepEqual((await charged(order)).made, []);
    }
    await shop.sql("alter table erp.document enable trigger keep_documents");
    // Nobody would delete the documents of this year
    await shop.sql(`
      insert into erp.number_gap (number_range, first_number, last_number, reason)
      select technical_name, last_number - 1, last_number, 'Deleted by a test' from erp.number_range
      where technical_name in ('document_invoice', 'document_storno')`);
  });
});

describe("documents of a merchant whose settings are missing", () => {
  it("are made, and a warning names what they lack", async () => {
    const order = await assigned([nails(1)]);
    const { documents, warnings } = await parcel(order, [[0, 1]], {
      documents: ["delivery_note", "invoice"],
    });
    assert.deepEqual(warnings, [
      {
        code: "DOCUMENT_INCOMPLETE",
        field: null,
        details: {
          documentNumber: documents[1].documentNumber,
          documentType: "invoice",
          missing: ["merchant.legalName", "merchant.address", "merchant.vatId", "order.billingAddress"],
        },
      },
    ]);
    assert.equal(uuidOf(documents[0].id).length, 36);
  });
});
