import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { uuidOf } from "../lib/ids.ts";
import { pickingIn } from "../lib/picking.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { daysAgo, work } from "../lib/valuation-heads.ts";
import { endOfLog, logAfter, sequence, subscribeToTopic } from "./support.ts";

describe("topics", () => {
  let shop: ShippingShop;
  const schemas = new Map<string, ValidateFunction<any>>();
  before(async () => {
    shop = await openShippingShop();
    const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
    addFormats.default(ajv);
    const { rows } = await shop.owner.query("select name, events.schema(name) as schema from events.topic");
    for (const { name, schema } of rows) {
      schemas.set(name, ajv.compile(schema));
      if (name !== "webhook_subscription.test") await subscribeToTopic(shop.owner, name);
    }
  });
  after(() => shop.close());

  /** The bodies of deliveries about events meanwhile. */
  async function happenings(work: () => Promise<unknown>): Promise<any[]> {
    await sequence(shop.owner);
    const before = await endOfLog(shop.owner);
    await work();
    await sequence(shop.owner);
    const { rows } = await shop.owner.query(
      "select events.message_body(id) as body from events.delivery where sequence > $1 order by sequence",
      [before],
    );
    const log = await logAfter(shop.owner, before);
    assert.equal(rows.length, log.length, "one subscription to each topic");
    return rows.map(({ body }) => body);
  }
  const typesOf = (bodies: any[]) => bodies.map(({ type }) => type);
  const ofType = (bodies: any[], type: string) => bodies.filter((body) => body.type === type);

  function assertValid(body: any): void {
    const validate: ValidateFunction<any> = schemas.get(body.type)!;
    assert.ok(validate(body), `${body.type}: ${JSON.stringify(validate.errors)}`);
    const { required, properties } = (validate.schema as any).properties.data;
    assert.deepEqual(Object.keys(body.data).sort(), required.toSorted(), body.type);
    assert.deepEqual(Object.keys(properties).sort(), required.toSorted());
  }

  it("all happen, and all their bodies are as their schemas say", async () => {
    const bodies = await happenings(async () => {
      const mutate = async (name: string, input: object, select = "") => {
        const payload = await shop.mutate(name, input, { select });
        assert.deepEqual(payload.userErrors, [], name);
        return payload;
      };
      // By the API
      await shop.store("hammer", "A-1", 20);
      const reserved: string[] = [];
      for (const quantity of [2, 1, 1]) {
        const lines = [shop.line("hammer", "A-1", { quantity })];
        const { stockReservations } = await mutate("stockReserve", { lines }, "stockReservations { id }");
        reserved.push(stockReservations[0].id);
      }
      const [released, outdated, consumed] = reserved as [string, string, string];
      await mutate("stockRelease", { lines: [{ id: released, quantity: 1 }] }, "stockReservations { id }");
      await mutate("stockRelease", { lines: [{ id: released }] }, "stockReservations { id }");
      await shop.sql("update erp.stock_reservation set expires_at = now() where id = $1", outdated);
      await shop.sql("select ledger.expire_reservations()");
      await shop.sql(
        "update erp.stock_reservation set open_quantity = 0, state = 'consumed' where id = $1",
        consumed,
      );
      const receipt = async (lineItems: object[], rest = {}) =>
        (await mutate("goodsReceiptCreate", { type: "Free", lineItems, ...rest }, "goodsReceipt { id }"))
          .goodsReceipt.id;
      const glue = await receipt([{ productId: shop.id.glue, quantity: 5, batchNumber: "new" }]);
      await mutate("goodsReceiptApprove", { id: glue }, "goodsReceipt { id }");
      await mutate("goodsReceiptComplete", { id: glue }, "goodsReceipt { id }");
      await mutate("goodsReceiptDelete", { id: await receipt([]) });
      const buy = async () =>
        (
          await mutate(
            "supplierOrderCreate",
            { supplierId: shop.id.acme, lineItems: [{ productId: shop.id.nail, quantity: 3, unitPrice: 2 }] },
            "supplierOrder { id lineItems { edges { node { id } } } }",
          )
        ).supplierOrder;
      const [bought, dropped] = [await buy(), await buy()];
      const lineItems = [{ label: "Visit", quantity: 1, unitPrice: 9 }];
      const offer = { currencyId: shop.id.EUR, validUntil: "2099-01-01T00:00:00Z", lineItems };
      const { quotes } = await mutate("quotesUpsert", { quotes: [offer, offer, offer] }, "quotes { id }");
      for (const { id } of quotes) await mutate("quoteSend", { id });
      await mutate("quoteAccept", { id: quotes[0].id });
      await mutate("quoteDecline", { id: quotes[1].id });
      await shop.sql("update erp.quote set valid_until = '2026-01-01' where id = $1", quotes[2].id);
      await shop.sql("select erp.expire_quotes()");
      await mutate("supplierOrderSend", { id: bought.id });
      await mutate("supplierOrderConfirm", { id: bought.id });
      const nails = await receipt(
        [
          {
            productId: shop.id.nail,
            quantity: 3,
            supplierOrderLineItemId: bought.lineItems.edges[0].node.id,
          },
        ],
        { type: "Supplier", supplierId: shop.id.acme },
      );
      await mutate("goodsReceiptApprove", { id: nails });
      await mutate("goodsReceiptComplete", { id: nails });
      const back = await receipt([{ productId: shop.id.nail, quantity: -1, supplierOrderId: bought.id }], {
        type: "Supplier",
      });
      await mutate("goodsReceiptApprove", { id: back });
      await mutate("goodsReceiptComplete", { id: back });
      await mutate("supplierOrderComplete", { id: bought.id });
      await mutate("supplierOrderCancel", { id: dropped.id });
      const order = await shop.order([{ product: "hammer", quantity: 4 }], [{ lines: [[0, 3]] }]);
      const { id } = order.fulfillmentOrders[0]!;
      await mutate("fulfillmentOrderHold", { id });
      await mutate("fulfillmentOrderReleaseHold", { id });
      const shipped = await shop.ship(order);
      assert.deepEqual(shipped.userErrors, []);
      await shop.cancel(shipped.fulfillments[0].id);
      const other = await shop.order([{ product: "nail", quantity: 1 }], [{ lines: [[0, 1]] }]);
      await mutate("fulfillmentOrderCancel", { id: other.fulfillmentOrders[0]!.id });
      const divided = await shop.order([{ product: "nail", quantity: 2 }], [{ lines: [[0, 2]] }]);
      const [part] = divided.fulfillmentOrders;
      const lines = [{ fulfillmentOrderLineItemId: part!.lines[0], quantity: 1 }];
      await mutate("fulfillmentOrderSplit", { id: part!.id, lines });
      await mutate("fulfillmentOrderMove", { id: part!.id, warehouseId: shop.id.shed });
      const select = "stockValuationReport { id }";
      const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
      const { stockValuationReport: draft } = await mutate(
        "stockValuationReportCreate",
        { referenceDate: day },
        select,
      );
      await mutate("stockValuationReportClose", { id: draft.id }, select);
      await mutate("stockValuationReportVoid", { id: draft.id, reason: "Test" }, select);
      await work(shop, undefined, daysAgo(-1));
      const take = async () =>
        (
          await mutate(
            "stocktakeCreate",
            { warehouseId: shop.id.hall, binLocationIds: [shop.id["A-1"]] },
            "stocktake { id sheets { edges { node { id } } } }",
          )
        ).stocktake;
      const counted = await take();
      const place = { binLocationId: shop.id["A-1"] };
      const submit = async ({ sheets }: any) => {
        const sheetId = sheets.edges[0].node.id;
        const lines = [{ place, isEmpty: true }];
        await mutate(
          "stocktakeSheetSubmit",
          { sheetId, counterName: "Ada", lines, isComplete: true },
          "__typename",
        );
      };
      await submit(counted);
      await mutate("stocktakeCancel", { id: counted.id }, "__typename");
      await shop.store("hammer", "A-1", 1);
      const again = await take();
      await submit(again);
      const token = await shop.token({ write: ["stocktake_results"] });
      const approved = await shop.mutate(
        "stocktakeApprove",
        { id: again.id },
        { token, select: "approvedCount" },
      );
      assert.deepEqual(approved.userErrors, []);
      const containerFields = "stockContainer { id }";
      const tote = { number: "T-1", kind: "tote", warehouseId: shop.id.hall };
      const { stockContainer } = await mutate("stockContainerCreate", tote, containerFields);
      await mutate(
        "stockContainerMove",
        { id: stockContainer.id, binLocationId: shop.id["A-1"] },
        containerFields,
      );
      const picking = pickingIn(shop);
      await shop.store("hammer", "A-1", 5);
      const packed = await picking.begin([await picking.order(["hammer", 1])]);
      await picking.confirm(packed.lines[0]);
      await picking.done("pickListPack", { pickTaskId: packed.tasks[0].id });
      const given = await picking.plan([await picking.order(["hammer", 1])]);
      await picking.done("pickListCancel", { id: given.id });
      // By other programs
      await shop.owner.query(`
        insert into erp.product (product_number, name) values ('saw', 'Saw');
        delete from erp.product where product_number = 'saw';
        insert into erp.customer_group (name) values ('{"en-GB": "All"}');
        insert into erp.country (iso_code, name) values ('FR', '{"en-GB": "France"}');
        insert into erp.payment_method (technical_name) values ('cash');
        insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
          select '{"en-GB": "Till"}', c.id, e.id, g.id, p.id from erp.country c, erp.currency e, erp.customer_group g, erp.payment_method p
          where e.is_default_currency;
        insert into erp.customer (customer_number, email, first_name, last_name, group_id, sales_channel_id, vat_ids)
          select 'K1', 'a@b.example', 'A', 'B', g.id, s.id, '["FR1"]' from erp.customer_group g, erp.sales_channel s;
        update erp.customer set company = 'AB';
        delete from erp.customer;
        insert into erp.shipping_label (carrier_technical_name, tracking_codes, order_id) select 'dhl', '["1", "2"]', id from erp.sales_order limit 1;
        update erp.shipping_label set state = 'failed';
        update erp.shipping_label set state = 'cancelled', cancelled_at = now();
        insert into erp.return_order (number, state) values ('R', 'requested');
        update erp.return_order set state = 'approved';
        update erp.return_order set state = 'received';
        update erp.return_order set refund_amount = 1;
        update erp.return_order set refund_amount = 0, state = 'closed';
        update erp.return_order set state = 'refused';
        update erp.return_order set state = 'cancelled';
        insert into bulk.operation (credential_id, scopes, kind, state, resource, format)
          values (gen_random_uuid(), '{}', 'import', 'running', 'products', 'csv');
        update bulk.operation set state = 'completed', finished_at = now();
        insert into erp.document_type (technical_name, name) values ('letter', '{"en-GB": "Letter"}');
        insert into erp.document (document_type_id, order_id, deep_link_code)
          select t.id, o.id, repeat('x', 32) from erp.document_type t, (select id from erp.sales_order limit 1) o where t.technical_name = 'letter'`);
    });
    for (const body of bodies) assertValid(body);
    assert.deepEqual(
      [...new Set(typesOf(bodies))].sort(),
      [...schemas.keys()].filter((name) => name !== "webhook_subscription.test").sort(),
    );
  });

  it("of a supplier order tell what happened, and not each state that it takes", async () => {
    const input = { supplierId: shop.id.acme, lineItems: [{ productId: shop.id.nail, quantity: 2 }] };
    const { supplierOrder } = await shop.mutate("supplierOrderCreate", input, {
      select: "supplierOrder { id }",
    });
    const receive = async (quantity: number) => {
      const lineItems = [{ productId: shop.id.nail, quantity, supplierOrderId: supplierOrder.id }];
      const created = await shop.mutate(
        "goodsReceiptCreate",
        { lineItems },
        { select: "goodsReceipt { id }" },
      );
      const { id } = created.goodsReceipt;
      await shop.mutate("goodsReceiptApprove", { id });
      const completed = await shop.mutate("goodsReceiptComplete", { id });
      assert.deepEqual(completed.userErrors, []);
    };
    const told = async (work: () => Promise<unknown>) =>
      typesOf(await happenings(work)).filter((type) => type.startsWith("supplier_order."));
    const step = (action: string) => shop.mutate(`supplierOrder${action}`, { id: supplierOrder.id });
    assert.deepEqual(await told(() => step("Confirm")), ["supplier_order.confirmed"]);
    assert.deepEqual(await told(() => receive(1)), []);
    // Confirmed again, but not by the supplier
    assert.deepEqual(await told(() => receive(-1)), []);
    assert.deepEqual(await told(() => receive(2)), ["supplier_order.delivered"]);
    assert.deepEqual(await told(() => receive(-1)), ["supplier_order.reopened"]);
    assert.deepEqual(await told(() => receive(1)), ["supplier_order.delivered"]);
    assert.deepEqual(await told(() => receive(-2)), ["supplier_order.reopened"]);
    assert.deepEqual(await told(() => step("Cancel")), ["supplier_order.cancelled"]);
  });

  it("say what the API says at that moment, in the same words", async () => {
    const order = await shop.order([{ product: "hammer", quantity: 1 }]);
    const [created] = await happenings(() =>
      shop.owner.query(
        `update erp.sales_order set storefront_id = 's', due_date = '2026-12-31', paid_amount = 0.5, exchange_rate = 1.25,
           exchange_rate_date = '2026-11-27', exchange_rate_source = 'ecb' where id = $1`,
        [uuidOf(order.id)],
      ),
    );
    const fields = `id orderNumber orderDateTime state deliveryState paymentState amountNet amountTotal trackingCodes
      storefrontId currencyId buyerReference purchaseOrderNumber dueDate paidAmount exchangeRate exchangeRateDate
      exchangeRateSource createdAt updatedAt`;
    const read = await shop.read(`query ($id: ID!) { order(id: $id) { ${fields} salesChannel { id } } }`, {
      id: order.id,
    });
    const { salesChannel, ...rest } = read.order;
    assert.equal(salesChannel, null);
    assert.deepEqual(created.data, { ...rest, salesChannelId: null, customerId: null });
    const [movement] = ofType(
      await happenings(() => shop.store("hammer", "A-1", 2)),
      "stock_movement.created",
    );
    const names = Object.keys(movement.data).join(" ");
    assert.deepEqual(
      (await shop.read(`{ stockMovement(id: "${movement.data.id}") { ${names} } }`)).stockMovement,
      movement.data,
    );
  });

  it("name the fields that changed, and keep quiet when none did", async () => {
    const { id } = await shop.order([{ product: "hammer", quantity: 1 }]);
    const change = (set: string) =>
      happenings(() => shop.owner.query(`update erp.sales_order set ${set} where id = $1`, [uuidOf(id)]));
    const told = async (set: string) =>
      (await change(set)).map(({ type, changedFields }) => [type, changedFields]);
    assert.deepEqual(await told("storefront_id = 'a', payment_state = 'paid'"), [
      ["order.updated", ["paymentState", "storefrontId"]],
      ["order.state_changed", ["paymentState", "storefrontId"]],
    ]);
    assert.deepEqual(await told("storefront_id = 'b'"), [["order.updated", ["storefrontId"]]]);
    assert.deepEqual(await told("storefront_id = 'b', updated_at = now() + interval '1 day'"), []);
    assert.deepEqual(await told("shipping_address = '{}'"), [], "the API's orders have no address");
  });

  it("say which request of whom it was, and with which key", async () => {
    const credential = await shop.credential({ write: ["stocks"] });
    const { rows } = await shop.owner.query(
      "select id from auth.credential order by created_at desc, id desc limit 1",
    );
    const token = await shop.tokenFor(credential);
    const line = { productId: shop.id.hammer, place: { binLocationId: shop.id["A-1"] }, delta: 1 };
    let requestId: string | null = null;
    const book = (rest: object) => async () => {
      const { headers } = await shop.tryMutate(
        "stockAdjust",
        { lines: [line], ...rest },
        { token, select: "stocks { id }" },
      );
      requestId = headers.get("x-request-id");
    };
    const credentialId = `gid://service/Credential/${rows[0].id}`;
    const keyed = await happenings(book({ idempotencyKey: "order 7" }));
    assert.deepEqual(typesOf(keyed).toSorted(), [
      "product.updated",
      "stock.changed",
      "stock_movement.created",
    ]);
    for (const { cause } of keyed)
      assert.deepEqual(cause, { credentialId, requestId, idempotencyKey: "order 7" });
    assert.deepEqual(
      await happenings(book({ idempotencyKey: "order 7" })),
      [],
      "repeated, it is not done again",
    );
    for (const { cause } of await happenings(book({})))
      assert.deepEqual(cause, { credentialId, requestId, idempotencyKey: null });
    assert.deepEqual(await happenings(book({ validateOnly: true })), []);
    assert.deepEqual(
      await happenings(book({ lines: [{ ...line, delta: -9999 }] })),
      [],
      "refused, nothing happened",
    );
    const [byHand] = await happenings(() =>
      shop.owner.query("update erp.product set name = 'Nails' where product_number = 'nail'"),
    );
    assert.deepEqual(byHand.cause, { credentialId: null, requestId: null, idempotencyKey: null });
  });

  it("come in the order in which things happened", async () => {
    const bodies = await happenings(() =>
      shop.owner.query(`
      with made as (insert into erp.sales_order (order_number, currency_id) select 'seq', id from erp.currency where is_default_currency returning id)
      insert into erp.sales_order_line_item (order_id, identifier, label, quantity, unit_price, total_price) select id, 'x', 'x', 1, 5, 5 from made`),
    );
    assert.deepEqual(typesOf(bodies), ["order.created", "order.updated"]);
    const [, amounts] = bodies;
    assert.deepEqual(amounts.changedFields, ["amountNet", "amountTotal"]);
    const stock = await happenings(() => shop.store("nail", "B-1", 1));
    assert.equal(stock[0].type, "stock_movement.created");
  });

  it("tell of special places in movements only", async () => {
    await shop.store("nail", "R-1", 1);
    const bodies = await happenings(() => shop.store("nail", "R-1", -1));
    const changed = ofType(bodies, "stock.changed");
    assert.deepEqual(
      changed.map(({ data }) => [data.locationTypeTechnicalName, data.quantity]),
      [["bin_location", 0]],
    );
  });

  it("tell of deletions by id and number, not by what the row was", async () => {
    const [gone] = ofType(
      await happenings(() => shop.owner.query("delete from erp.product where product_number = 'glue'")),
      "product.deleted",
    );
    assert.deepEqual(gone.data, { id: shop.id.glue, productNumber: "glue" });
  });

  it("of a test are as their schema says", async () => {
    const id = await subscribeToTopic(shop.owner, "order.created");
    const { webhookDeliveryId } = await shop.mutate(
      "webhookSubscriptionTest",
      { id: `gid://service/WebhookSubscription/${id}` },
      { select: "webhookDeliveryId" },
    );
    const { rows } = await shop.owner.query("select events.message_body($1) as body", [
      uuidOf(webhookDeliveryId),
    ]);
    assertValid(rows[0].body);
    assert.deepEqual(
      [rows[0].body.sequence, rows[0].body.type, rows[0].body.data.topic],
      [null, "webhook_subscription.test", "order.created"],
    );
  });
});
