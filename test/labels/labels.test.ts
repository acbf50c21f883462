import assert from "node:assert/strict";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { temporaryFolder } from "../commands/process.ts";
import type { TestJobRunner } from "../jobs/support.ts";
import { missingId, uuidOf } from "../lib/ids.ts";
import { refusals } from "../lib/shop.ts";
import { openLabelShop } from "./support.ts";
import type { LabelShop } from "./support.ts";

describe("a shipping label", () => {
  let shop: LabelShop;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let worker: TestJobRunner | undefined;
  let order: string;
  let fulfillmentOrder: string;
  before(async () => {
    folder = await temporaryFolder();
    shop = await openLabelShop(join(folder.path, "labels.jsonl"), { versions });
  });
  beforeEach(async () => {
    ({ order, fulfillmentOrder } = await shop.newOrder());
    shop.carrier.calls.length = 0;
  });
  afterEach(async () => {
    await worker?.stop();
    worker = undefined;
    await shop.owner.query("delete from erp.shipping_label_work");
  });
  after(async () => {
    await shop.close();
    await folder.remove();
  });

  const topics = async (id: string): Promise<string[]> => {
    const { rows } = await shop.owner.query(
      "select topic from events.outbox where subject_id = $1 order by topic",
      [uuidOf(id)],
    );
    return rows.map(({ topic }) => topic);
  };
  const refuse = async (name: string, input: object, code: string, field: string) =>
    assert.deepEqual(refusals(await shop.mutate(name, input)), [[code, field]]);
  const carrierTechnicalName = "example";

  it("is requested, made by its carrier, and printed", async () => {
    const parcels = [{ weightInGrams: 1200 }, { weightInGrams: 800 }];
    const ids = await shop.request({ fulfillmentOrderId: fulfillmentOrder, parcels });
    const requested = await shop.label(ids[1]!);
    assert.deepEqual(
      [
        requested.state,
        requested.parcelNumber,
        requested.weightInGrams,
        requested.carrierName,
        requested.orderId,
      ],
      ["requested", 2, 800, "Example", order],
    );
    assert.deepEqual(await shop.trackingCodes(order), []);
    worker = shop.work();
    const made = [await shop.becomes(ids[0]!, "created"), await shop.becomes(ids[1]!, "created")];
    const codes = made.flatMap(({ trackingCodes }) => trackingCodes);
    assert.equal(new Set(codes).size, 2);
    assert.deepEqual((await shop.trackingCodes(order)).sort(), codes.sort());
    assert.deepEqual(shop.carrier.calls, ["POST /labels", "POST /labels"]);
    const { request } = shop.carrier.labels.get(uuidOf(ids[0]!))!;
    assert.deepEqual(
      [request!.recipient!.street, request!.sender!.company, request!.parcelNumber, request!.weightInGrams],
      ["Hafenweg 3", "Bergfreunde OHG", 1, 1200],
    );
    const file = await fetch(new URL(made[0].documentUrl, shop.url));
    assert.deepEqual([file.status, file.headers.get("content-type")], [200, "application/pdf"]);
    assert.match(
      file.headers.get("content-disposition")!,
      new RegExp(`inline; filename="${made[0].trackingCodes[0]}.pdf"`),
    );
    const text = await file.text();
    assert.ok(
      text.startsWith("%PDF-") && text.includes(made[0].trackingCodes[0]) && text.includes("Hafenweg 3"),
    );
    const wrong = made[0].documentUrl.replace(/.$/, (last: string) => (last === "0" ? "1" : "0"));
    assert.equal((await fetch(new URL(wrong, shop.url))).status, 404);
    assert.deepEqual(await topics(ids[0]!), ["shipping_label.created"]);
  });

  it("of a return swaps the addresses, and adds no code to the order", async () => {
    const [id] = await shop.request({ orderId: order, type: "return" });
    worker = shop.work();
    const { fulfillmentOrderId, trackingCodes } = await shop.becomes(id!, "created");
    assert.deepEqual([fulfillmentOrderId, trackingCodes.length], [null, 1]);
    const { request } = shop.carrier.labels.get(uuidOf(id!))!;
    assert.deepEqual([request!.recipient!.company, request!.sender!.company], ["Bergfreunde OHG", null]);
    assert.deepEqual(await shop.trackingCodes(order), []);
  });

  it("gets the tracking page of its carrier, and may be a link", async () => {
    shop.carrier.faults.push((_, response) =>
      response
        .writeHead(201)
        .end('{"trackingCodes":["A 1"],"documentUrl":"https://labels.example.com/1.pdf"}'),
    );
    worker = shop.work();
    const [id] = await shop.request({ orderId: order, carrierTechnicalName: "other" });
    const { trackingUrl, documentUrl } = await shop.becomes(id!, "created");
    assert.deepEqual(
      [trackingUrl, documentUrl],
      ["https://track.example.com/?code=A%201", "https://labels.example.com/1.pdf"],
    );
  });

  it("is refused where there is nothing to label", async () => {
    const other = await shop.newOrder();
    const ask = (input: object, code: string, field: string) =>
      refuse("shippingLabelRequest", { carrierTechnicalName, ...input }, code, field);
    await ask({}, "REQUIRED", "orderId");
    await ask({ orderId: order, fulfillmentOrderId: fulfillmentOrder }, "REQUIRED", "orderId");
    await ask({ orderId: missingId("Order") }, "NOT_FOUND", "orderId");
    await ask({ fulfillmentOrderId: missingId("FulfillmentOrder") }, "NOT_FOUND", "fulfillmentOrderId");
    await ask({ orderId: order, carrierTechnicalName: "nobody" }, "NOT_FOUND", "carrierTechnicalName");
    await ask({ orderId: order, type: "inward" }, "INVALID", "type");
    await ask({ orderId: order, parcels: [{ weightInGrams: 0 }] }, "OUT_OF_RANGE", "parcels.0.weightInGrams");
    await ask({ orderId: order, parcels: [{ number: 0 }] }, "OUT_OF_RANGE", "parcels.0.number");
    await ask({ orderId: order, parcels: [{ number: 2 }, {}] }, "INVALID", "parcels.1.number");
    await ask({ orderId: order, parcels: Array(51).fill({}) }, "TOO_MANY_LINES", "parcels");
    await shop.sql(
      "update erp.fulfillment_order set state = 'OnHold', state_before_hold = 'Open' where id = $1",
      fulfillmentOrder,
    );
    await ask({ fulfillmentOrderId: fulfillmentOrder }, "ON_HOLD", "fulfillmentOrderId");
    await shop.sql(
      "update erp.fulfillment_order set state = 'Cancelled', state_before_hold = null where id = $1",
      fulfillmentOrder,
    );
    await ask({ fulfillmentOrderId: fulfillmentOrder }, "INVALID_STATE_TRANSITION", "fulfillmentOrderId");
    await shop.sql(
      "update erp.fulfillment_order set type = 'ExternalToOrder', source_warehouse_location_id = null where id = $1",
      other.fulfillmentOrder,
    );
    await ask({ fulfillmentOrderId: other.fulfillmentOrder }, "EXTERNALLY_MANAGED", "fulfillmentOrderId");
    await shop.sql("update erp.sales_order set state = 'cancelled' where id = $1", other.order);
    await ask({ orderId: other.order }, "INVALID_STATE_TRANSITION", "orderId");
    await shop.owner.query("update erp.carrier set is_active = false where technical_name = 'other'");
    await ask({ orderId: order, carrierTechnicalName: "other" }, "INVALID", "carrierTechnicalName");
    await shop.owner.query("update erp.carrier set is_active = true");
    await shop.sql("update erp.sales_order set shipping_address = null where id = $1", order);
    await ask({ orderId: order }, "REQUIRED", "orderId");
    const { rows } = await shop.owner.query("select from erp.shipping_label where state = 'requested'");
    assert.equal(rows.length, 0);
  });

  it("is the only one of its parcel", async () => {
    const [id] = await shop.request({ fulfillmentOrderId: fulfillmentOrder });
    const again = { fulfillmentOrderId: fulfillmentOrder, carrierTechnicalName };
    await refuse("shippingLabelRequest", again, "NOT_UNIQUE", "parcels.0.number");
    await shop.request({ ...again, parcels: [{ number: 2 }] });
    await shop.request({ ...again, type: "return" });
    await shop.request({ orderId: order });
    await refuse(
      "shippingLabelRequest",
      { orderId: order, carrierTechnicalName },
      "NOT_UNIQUE",
      "parcels.0.number",
    );
    await shop.mutate("shippingLabelCancel", { id });
    assert.equal((await shop.label(id!)).state, "cancelled");
    await shop.request(again);
  });

  it("is requested once, however often a call is repeated", async () => {
    const input = { orderId: order, carrierTechnicalName, idempotencyKey: `label ${order}` };
    const call = () => shop.mutate("shippingLabelRequest", input, { select: "shippingLabels { id }" });
    const [first, second] = await Promise.all([call(), call()]);
    assert.deepEqual(first, second);
  });

  it("needs its own scope, and is cancelled and tried again only if it is there", async () => {
    const token = await shop.token({ read: ["shipping_labels"], write: ["orders"] });
    for (const [name, input] of Object.entries({
      shippingLabelRequest: { orderId: order, carrierTechnicalName },
      shippingLabelCancel: { id: missingId("ShippingLabel") },
      shippingLabelRetry: { id: missingId("ShippingLabel") },
    })) {
      const { codes } = await shop.tryMutate(name, input, { token });
      assert.deepEqual(codes, ["FORBIDDEN"]);
      if ("id" in input) await refuse(name, input, "NOT_FOUND", "id");
    }
  });

  it("that another program made is cancelled at once, and can't be tried again", async () => {
    const insert = `insert into erp.shipping_label (state, carrier_technical_name, tracking_codes, order_id)
      values ($2, 'dhl', '["X1"]', $1) returning id`;
    const make = async (state: string) => {
      const { rows } = await shop.owner.query(insert, [uuidOf(order), state]);
      return `gid://service/ShippingLabel/${rows[0].id}`;
    };
    const [created, failed] = [await make("created"), await make("failed")];
    assert.deepEqual(await shop.trackingCodes(order), ["X1"]);
    await refuse("shippingLabelRetry", { id: failed }, "NOT_EDITABLE", "id");
    await shop.mutate("shippingLabelCancel", { id: created });
    const { state, cancelledAt } = await shop.label(created);
    assert.ok(state === "cancelled" && cancelledAt !== null);
    assert.deepEqual(await shop.trackingCodes(order), []);
    const { userErrors } = await shop.mutate("shippingLabelCancel", { id: created });
    assert.deepEqual(
      [userErrors[0].code, userErrors[0].details],
      ["INVALID_STATE_TRANSITION", { state: "cancelled", allowedActions: [] }],
    );
    assert.deepEqual(shop.carrier.calls, []);
  });

  it("that SQL requests is made, too, and needs a carrier and a parcel", async () => {
    const insert = (carrier: string, parcel: number | null) =>
      shop.owner.query(
        `insert into erp.shipping_label (state, carrier_technical_name, order_id, parcel_number)
         values ('requested', $1, $2, $3) returning id`,
        [carrier, uuidOf(order), parcel],
      );
    await assert.rejects(insert("nobody", 1), { code: "23503" });
    await assert.rejects(insert("example", null), { code: "23514" });
    worker = shop.work();
    const { rows } = await insert("example", 1);
    await shop.becomes(`gid://service/ShippingLabel/${rows[0].id}`, "created");
  });

  it("is not in the frozen version before its carrier has answered", async () => {
    const [id] = await shop.request({ orderId: order });
    const token = await shop.token();
    const query = `{ shippingLabel(id: "${id}") { state } }`;
    const ask = async (version: string) => (await shop.ask(token, { query }, { version })).body.data;
    assert.deepEqual(await ask("2026-06-unstable"), { shippingLabel: null });
    assert.deepEqual(await ask("unstable"), { shippingLabel: { state: "requested" } });
    worker = shop.work();
    await shop.becomes(id!, "created");
    assert.deepEqual(await ask("2026-06-unstable"), { shippingLabel: { state: "created" } });
  });

  it("loses its file with the address of the file, which then says why", async () => {
    worker = shop.work();
    const ids = await shop.request({ orderId: order, parcels: [{}, {}, {}, {}] });
    const made: any[] = [];
    for (const id of ids) made.push(await shop.becomes(id, "created"));
    const age = (id: string, days: number) =>
      shop.sql(
        `update erp.shipping_label_file set created_at = now() - interval '${days} days' where shipping_label_id = $1`,
        id,
      );
    await age(ids[0]!, 91);
    await age(ids[1]!, 89);
    // Its request is old, its file is new
    await shop.sql(
      "update erp.shipping_label set created_at = now() - interval '1 year' where id = $1",
      ids[1]!,
    );
    assert.deepEqual(await shop.sql("select erp.prune_label_files(10) as n"), [{ n: 1 }]);
    assert.deepEqual(await shop.sql("select erp.prune_label_files(10) as n"), [{ n: 0 }]);
    await shop.mutate("shippingLabelCancel", { id: ids[2] });
    await shop.becomes(ids[2]!, "cancelled");
    await shop.sql("update erp.shipping_label set document_url = null where id = $1", ids[3]!);
    const open = async ({ documentUrl }: any, init?: RequestInit) => {
      const response = await fetch(new URL(documentUrl, shop.url), init);
      const text = await response.text();
      return [
        response.status,
        response.status === 200 ? text.slice(0, 5) : JSON.parse(text || "{}").errors?.[0].extensions.code,
      ];
    };
    assert.deepEqual(await Promise.all(made.map((one) => open(one))), [
      [410, "FILE_EXPIRED"],
      [200, "%PDF-"],
      [410, "LABEL_CANCELLED"],
      [410, "FILE_ERASED"],
    ]);
    assert.deepEqual(await open(made[0], { method: "HEAD" }), [410, undefined]);
    const [wrong, ofXml] = [made[0].documentUrl.replace(/.{3}$/, "xyz"), `${made[0].documentUrl}?format=xml`];
    for (const documentUrl of [wrong, ofXml]) assert.deepEqual((await open({ documentUrl }))[0], 404);
    const { state, documentUrl, trackingCodes } = await shop.label(ids[0]!);
    assert.deepEqual([state, documentUrl, trackingCodes], ["created", null, made[0].trackingCodes]);
    assert.ok((await shop.trackingCodes(order)).includes(trackingCodes[0]));
    assert.deepEqual(await topics(ids[0]!), ["shipping_label.created"]);
    const { rows } = await shop.owner.query(
      "select count(content)::integer as files from erp.shipping_label_file where shipping_label_id = any ($1)",
      [ids.map(uuidOf)],
    );
    assert.deepEqual(rows, [{ files: 1 }]);
  });

  it("lists its carriers without their secrets", async () => {
    const { carriers } = await shop.read(
      '{ carriers(filter: { technicalName: { equals: "example" } }) { edges { node { name isActive trackingUrlPattern } } } }',
    );
    assert.deepEqual(carriers.edges, [
      { node: { name: "Example", isActive: true, trackingUrlPattern: null } },
    ]);
    const { codes } = await shop.ask(await shop.token(), {
      query: "{ carriers { edges { node { secret } } } }",
    });
    assert.deepEqual(codes, ["GRAPHQL_VALIDATION_FAILED"]);
  });
});
