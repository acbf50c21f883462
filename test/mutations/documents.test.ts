import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { noUuid } from "../lib/ids.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { ShopOrder, OrderLine, ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// documentCreate: what was shipped is invoiced once, and credited once
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
  for (const product of ["nail", "hammer"]) await shop.store(product, "A-1", 10_000);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const documents = "id documentNumber config documentType { technicalName } referencedDocument { id }";
const nails = (quantity: number, price = 1): OrderLine => ({
  product: "nail",
  quantity,
  price,
  taxRate: 19,
});
const postage: OrderLine = {
  quantity: 1,
  type: "shipping",
  price: 4.9,
  taxRate: 19,
};
const service = (price: number): OrderLine => ({
  quantity: 1,
  type: "custom",
  price,
  taxRate: 19,
});

/** An order that the hall ships. */
const assigned = (lines: OrderLine[]): Promise<ShopOrder> => {
  const goods = lines.flatMap(({ product }, n) => (product ? [n] : []));
  return shop.order(lines, [{ lines: goods.map((n) => [n, lines[n]!.quantity]) }]);
};
/** Ships units of the first line of an order, without documents unless some are named. */
const parcel = (order: ShopOrder, quantity: number, rest: object = {}) =>
  shop.mutate(
    "fulfillmentCreate",
    {
      fulfillmentOrderId: order.fulfillmentOrders[0]!.id,
      lines: [
        {
          fulfillmentOrderLineItemId: order.fulfillmentOrders[0]!.lines[0],
          quantity,
        },
      ],
      ...rest,
    },
    { select: `fulfillment { id } documents { ${documents} }` },
  );
const complete = (order: ShopOrder, rest: object = {}) =>
  shop.mutate(
    "orderShipmentComplete",
    { orderId: order.id, ...rest },
    {
      select: `order { state deliveryState } fulfillments { id } documents { ${documents} }`,
    },
  );
const create = (order: ShopOrder, documentType: string, rest: object = {}, options: object = {}) =>
  shop.mutate(
    "documentCreate",
    { orderId: order.id, documentType, ...rest },
    { select: `document { ${documents} } order { id }`, ...options },
  );
const done = async (work: Promise<any>) => {
  const payload = await work;
  assert.deepEqual(payload.userErrors, []);
  return payload;
};
const charges = ({ config }: any) => config.lines.map((line: any) => [line.label, line.quantity]);

/** The documents of an order by type, and what those with amounts come to, in cents. */
async function accountOf(order: ShopOrder) {
  const { order: read } = await shop.read(
    `query ($id: ID!) { order(id: $id) { documents(first: 250) { edges { node { ${documents} } } } } }`,
    { id: order.id },
  );
  const made = read.documents.edges.map(({ node }: any) => node);
  return {
    types: made.map(({ documentType }: any) => documentType.technicalName),
    balance: made.reduce(
      (sum: number, { config }: any) =>
        sum + Math.round((config.totals?.total ?? 0) * (config.typeCode === "381" ? -100 : 100)),
      0,
    ),
  };
}

describe("a shipment", () => {
  it("never credits: goods that leave are charged, or nothing is", async () => {
    const order = await assigned([nails(5, 100)]);
    await done(parcel(order, 2, { documents: ["invoice"] }));
    for (const type of ["credit_note", "storno", "upload"]) {
      assert.deepEqual(refusals(await parcel(order, 1, { documents: ["delivery_note", type] })), [
        ["INVALID", "documents.1"],
      ]);
      const refused = await complete(order, { documents: [type] });
      assert.deepEqual(refusals(refused), [["INVALID", "documents.0"]]);
      assert.match(refused.userErrors[0].message, /invoice.*delivery_note.*documentCreate/);
    }
    await done(complete(order, { documents: ["invoice"] }));
    assert.deepEqual(await accountOf(order), {
      types: ["invoice", "invoice"],
      balance: 50_000,
    });
  });
});

describe("an order of services alone", () => {
  it("is completed and invoiced by orderShipmentComplete, as others are", async () => {
    const order = await shop.order([service(80), service(20)]);
    const { order: read, fulfillments, documents } = await done(complete(order, { documents: ["invoice"] }));
    assert.deepEqual(read, { state: "completed", deliveryState: "shipped" });
    assert.deepEqual(fulfillments, []);
    assert.equal(documents[0].config.totals.total, 100);
    assert.deepEqual(refusals(await complete(order)), [["INVALID_STATE_TRANSITION", null]]);
    assert.deepEqual(refusals(await create(order, "invoice")), [["INVALID", "documentType"]]);
  });

  it("is invoiced by documentCreate, before it is completed or after", async () => {
    const order = await shop.order([service(80)]);
    const { document } = await done(create(order, "invoice"));
    assert.equal(document.config.totals.total, 80);
    await done(complete(order));
    const other = await shop.order([service(80)]);
    await done(complete(other));
    await done(create(other, "invoice"));
    assert.equal((await accountOf(other)).balance, 8_000);
  });

  it("is not cancelled while it is invoiced", async () => {
    const order = await shop.order([service(80)]);
    const { document } = await done(create(order, "invoice"));
    const refused = await shop.mutate("orderCancel", { id: order.id });
    assert.deepEqual(refusals(refused), [["NOT_EDITABLE", "id"]]);
    assert.deepEqual(refused.userErrors[0].details, { invoices: [document.documentNumber] });
    await done(create(order, "storno"));
    await done(shop.mutate("orderCancel", { id: order.id }));
  });

  it("is not charged when it is cancelled, and an order without lines is not completed", async () => {
    const order = await shop.order([service(80)]);
    await done(shop.mutate("orderCancel", { id: order.id }));
    const { userErrors } = await create(order, "invoice");
    assert.deepEqual(refusals({ userErrors }), [["INVALID", "documentType"]]);
    assert.match(userErrors[0].message, /is cancelled/);
    assert.deepEqual(refusals(await complete(await shop.order([]))), [
      ["INVALID_STATE_TRANSITION", "orderId"],
    ]);
  });
});

describe("documentCreate of an invoice", () => {
  it("charges what was shipped without one, once, and tells of it", async () => {
    const order = await assigned([nails(5, 2), postage]);
    await done(complete(order));
    const input = { idempotencyKey: `invoice of ${order.id}` };
    assert.deepEqual((await done(create(order, "invoice", { validateOnly: true }))).document, null);
    const made = await done(create(order, "invoice", input));
    const again = await done(create(order, "invoice", input));
    assert.equal(again.document.id, made.document.id);
    assert.equal(made.order.id, order.id);
    assert.deepEqual(charges(made.document), [
      ["nail", 5],
      ["shipping", 1],
    ]);
    const { code, message, details } = (await create(order, "invoice")).userErrors[0];
    assert.deepEqual(
      [code, details],
      ["INVALID", { invoices: [made.document.documentNumber] }],
      "a second one is refused, and names the first",
    );
    assert.match(message, /invoiced already/);
    assert.deepEqual(await accountOf(order), {
      types: ["invoice"],
      balance: 1_490,
    });
    const events = await shop.sql(
      "select topic from events.outbox where subject_id = $1 and topic like 'document.%'",
      made.document.id,
    );
    assert.deepEqual(events, [{ topic: "document.created" }]);
  });

  it("of named fulfillments charges these alone, and another one the rest", async () => {
    const order = await assigned([nails(9, 2)]);
    const ids: string[] = [];
    for (const quantity of [1, 2, 3]) ids.push((await done(parcel(order, quantity))).fulfillment.id);
    const second = await done(create(order, "invoice", { fulfillmentIds: [ids[1]] }));
    assert.deepEqual(charges(second.document), [["nail", 2]]);
    const refused = await create(order, "invoice", {
      fulfillmentIds: [ids[0], ids[1]],
    });
    assert.deepEqual(refusals(refused), [["INVALID", "fulfillmentIds.1"]]);
    assert.deepEqual(refused.userErrors[0].details, {
      invoices: [second.document.documentNumber],
    });
    assert.deepEqual(charges((await done(create(order, "invoice"))).document), [["nail", 4]]);

    // The third parcel never left: its invoice is cancelled, and the first parcel charged again, but not the fourth
    await done(parcel(order, 2));
    const cancelled = await done(
      shop.mutate("fulfillmentCancel", { id: ids[2] }, { select: `documents { ${documents} }` }),
    );
    assert.deepEqual(
      cancelled.documents.map((document: any) => charges(document)),
      [[["nail", -4]], [["nail", 1]]],
    );
    assert.equal((await accountOf(order)).balance, 600);
  });

  it("is refused before anything is shipped, also for the costs of shipping", async () => {
    const order = await assigned([nails(5), postage]);
    const { userErrors } = await create(order, "invoice");
    assert.deepEqual(refusals({ userErrors }), [["INVALID", "documentType"]]);
    assert.match(userErrors[0].message, /Nothing of the order.*orderShipmentComplete/);
    assert.deepEqual((await accountOf(order)).types, []);
  });

  it("is refused for fulfillments that are none of the order", async () => {
    const order = await assigned([nails(5)]);
    const other = await assigned([nails(5)]);
    const { fulfillment } = await done(parcel(order, 1));
    const foreign = (await done(parcel(other, 1))).fulfillment.id;
    await done(shop.mutate("fulfillmentCancel", { id: fulfillment.id }));
    await done(parcel(order, 1));
    for (const [fulfillmentIds, ...expected] of [
      [[foreign], ["NOT_FOUND", "fulfillmentIds.0"]],
      [[`gid://service/Fulfillment/${noUuid}`], ["NOT_FOUND", "fulfillmentIds.0"]],
      [[fulfillment.id], ["INVALID", "fulfillmentIds.0"]],
      [
        [fulfillment.id, fulfillment.id],
        ["INVALID", "fulfillmentIds.0"],
        ["NOT_UNIQUE", "fulfillmentIds.1"],
      ],
      [[], ["REQUIRED", "fulfillmentIds"]],
      [Array(251).fill(foreign), ["TOO_MANY_LINES", "fulfillmentIds"]],
    ] as const)
      assert.deepEqual(refusals(await create(order, "invoice", { fulfillmentIds })), expected);
  });
});

describe("documentCreate", () => {
  it("is allowed by the scope of documents or of orders, and by no other", async () => {
    const order = await assigned([nails(3)]);
    await done(parcel(order, 1));
    for (const write of ["documents", "orders"]) {
      const token = await shop.token({ read: ["documents", "orders"], write: [write] });
      await done(create(order, "delivery_note", {}, { token }));
    }
    const token = await shop.token({ read: ["documents", "orders"], write: ["products"] });
    const { body } = await shop.tryMutate(
      "documentCreate",
      { orderId: order.id, documentType: "delivery_note" },
      { token },
    );
    assert.equal(body.errors[0].extensions.code, "FORBIDDEN");
  });
});

describe("documentCreate of a delivery note", () => {
  it("lists the newest parcel, or the one that is named", async () => {
    const order = await assigned([nails(5)]);
    assert.deepEqual(refusals(await create(order, "delivery_note")), [["INVALID", "documentType"]]);
    const one = (await done(parcel(order, 2))).fulfillment.id;
    const two = (await done(parcel(order, 3))).fulfillment.id;
    assert.deepEqual(charges((await done(create(order, "delivery_note"))).document), [["nail", 3]]);
    const named = await done(create(order, "delivery_note", { fulfillmentIds: [one] }));
    assert.deepEqual(charges(named.document), [["nail", 2]]);
    assert.deepEqual(refusals(await create(order, "delivery_note", { fulfillmentIds: [one, two] })), [
      ["INVALID", "fulfillmentIds"],
    ]);
  });
});

describe("documentCreate of a credit note", () => {
  it("credits an invoice once, and what it credited isn't charged again", async () => {
    const order = await assigned([nails(5, 100)]);
    assert.deepEqual(refusals(await create(order, "credit_note")), [["INVALID", "documentType"]]);
    const [invoice] = (await done(parcel(order, 2, { documents: ["invoice"] }))).documents;
    const { document } = await done(create(order, "credit_note"));
    assert.deepEqual([document.referencedDocument.id, document.config.totals.total], [invoice.id, 200]);
    for (const type of ["credit_note", "storno"]) {
      assert.deepEqual(refusals(await create(order, type)), [["INVALID", "documentType"]]);
      const named = await create(order, type, {
        referencedDocumentId: invoice.id,
      });
      assert.deepEqual(refusals(named), [["INVALID", "referencedDocumentId"]]);
      assert.match(named.userErrors[0].message, new RegExp(`${document.documentNumber} has`));
    }
    const rest = await done(complete(order, { documents: ["invoice"] }));
    assert.deepEqual(charges(rest.documents[0]), [["nail", 3]]);
    assert.equal((await accountOf(order)).balance, 30_000);
  });

  it("of a parcel that comes back is the only one, and the units can be charged again", async () => {
    const order = await assigned([nails(5, 100)]);
    const { fulfillment } = await done(parcel(order, 2));
    await done(parcel(order, 1));
    await done(create(order, "invoice"));
    await done(create(order, "credit_note"));
    const cancelled = await done(
      shop.mutate("fulfillmentCancel", { id: fulfillment.id }, { select: "documents { id }" }),
    );
    assert.deepEqual(cancelled.documents, []);
    const rest = await done(complete(order, { documents: ["invoice"] }));
    assert.deepEqual(charges(rest.documents[0]), [["nail", 4]]);
    assert.deepEqual(await accountOf(order), {
      types: ["invoice", "credit_note", "invoice"],
      balance: 40_000,
    });
  });

  it("of several invoices names one; a storno lets it be charged again", async () => {
    const order = await assigned([nails(5, 100)]);
    const [first] = (await done(parcel(order, 2, { documents: ["invoice"] }))).documents;
    const [second] = (await done(complete(order, { documents: ["invoice"] }))).documents;
    for (const type of ["credit_note", "storno"]) {
      const { userErrors } = await create(order, type);
      assert.deepEqual(refusals({ userErrors }), [["REQUIRED", "referencedDocumentId"]]);
      assert.deepEqual(userErrors[0].details, {
        invoices: [first.documentNumber, second.documentNumber],
      });
    }
    await done(create(order, "storno", { referencedDocumentId: first.id }));
    assert.equal((await accountOf(order)).balance, 30_000);
    assert.deepEqual(charges((await done(create(order, "invoice"))).document), [["nail", 2]]);
    assert.equal((await accountOf(order)).balance, 50_000);
  });

  it("happens once, whichever writer makes a second one, and however many clients ask", async () => {
    const order = await assigned([nails(5, 100)]);
    const [invoice] = (await done(complete(order, { documents: ["invoice"] }))).documents;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => create(order, n % 2 ? "storno" : "credit_note")),
    );
    assert.equal(answers.filter(({ userErrors }) => userErrors.length === 0).length, 1);
    assert.equal((await accountOf(order)).balance, 0);
    for (const type of ["credit_note", "storno"])
      await assert.rejects(
        shop.sql(
          `insert into erp.document (document_type_id, order_id, referenced_document_id, document_number, deep_link_code)
           select t.id, $1, $2, 'BY-HAND', repeat('z', 40) from erp.document_type t where t.technical_name = '${type}'`,
          order.id,
          invoice.id,
        ),
        /taken back already/,
      );
  });
});

describe("documentCreate is refused", () => {
  it("for what it doesn't know, and for inputs that don't go together", async () => {
    const order = await assigned([nails(5)]);
    const { fulfillment, documents } = await done(parcel(order, 2, { documents: ["invoice"] }));
    const [fulfillmentIds, referencedDocumentId] = [[fulfillment.id], documents[0].id];
    const nothing = { ...order, id: `gid://service/Order/${noUuid}` };
    assert.deepEqual(refusals(await create(nothing, "invoice")), [["NOT_FOUND", "orderId"]]);
    for (const [type, rest, field] of [
      ["letter", {}, "documentType"],
      ["upload", {}, "documentType"],
      ["invoice", { referencedDocumentId }, "referencedDocumentId"],
      ["delivery_note", { referencedDocumentId }, "referencedDocumentId"],
      ["credit_note", { fulfillmentIds }, "fulfillmentIds"],
      ["storno", { fulfillmentIds }, "fulfillmentIds"],
      ["storno", { referencedDocumentId: `gid://service/Document/${noUuid}` }, "referencedDocumentId"],
    ] as const)
      assert.deepEqual(refusals(await create(order, type, rest)), [["INVALID", field]], `${type} ${field}`);
  });

  it("without orders:write", async () => {
    const order = await shop.order([service(1)]);
    const token = await shop.token({ read: "all" });
    const { body } = await shop.tryMutate(
      "documentCreate",
      { orderId: order.id, documentType: "invoice" },
      { token },
    );
    assert.equal(body.errors[0].extensions.code, "FORBIDDEN");
    assert.equal(body.errors[0].extensions.missingScopes[0].field, "Mutation.documentCreate");
  });
});
