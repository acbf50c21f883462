import assert from "node:assert/strict";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { temporaryFolder } from "../commands/process.ts";
import type { TestJobRunner } from "../jobs/support.ts";
import { uuidOf } from "../lib/ids.ts";
import { refusals } from "../lib/shop.ts";
import { until } from "../lib/until.ts";
import { answering, openLabelShop } from "./support.ts";
import type { Fault, LabelShop, WorkOptions } from "./support.ts";

// Whatever happens between the service and a carrier, a request becomes one label at most
describe("one request", () => {
  let shop: LabelShop;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const workers: TestJobRunner[] = [];
  let order: string;
  before(async () => {
    folder = await temporaryFolder();
    shop = await openLabelShop(join(folder.path, "labels.jsonl"));
  });
  beforeEach(async () => {
    ({ order } = await shop.newOrder());
    shop.carrier.calls.length = 0;
    shop.carrier.faults.length = 0;
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await shop.owner.query("delete from erp.shipping_label_work");
  });
  after(async () => {
    await shop.close();
    await folder.remove();
  });

  const work = (options: WorkOptions = {}) => {
    const worker = shop.work(options);
    workers.push(worker);
    return worker;
  };
  const { spoil, hold } = {
    /** Makes the label, but the answer doesn't come. */
    spoil: (request: Parameters<Fault>[0], response: Parameters<Fault>[1], end: () => void) => {
      response.end = (() => (end(), response)) as typeof response.end;
      shop.carrier.usual(request, response);
    },
    /** Answers as usual, when the test says so. */
    hold: () => {
      const gate = Promise.withResolvers<void>();
      const fault: Fault = (request, response) =>
        gate.promise.then(() => shop.carrier.usual(request, response));
      return { fault, release: gate.resolve };
    },
  };
  const request = async (input: object = {}) => (await shop.request({ orderId: order, ...input }))[0]!;
  /** Waits until an attempt has failed, then ends the pause. */
  const fails = async (id: string) => {
    await until(async () => (await shop.label(id)).failure !== null);
    const { failure } = await shop.label(id);
    await shop.hurry();
    return failure as string;
  };
  const madeFor = (...ids: string[]) =>
    shop.carrier.labels.valid.filter(({ key }) => ids.some((id) => uuidOf(id) === key)).length;

  it("whose answer doesn't come in time, or is cut off, gets the label that was made", async () => {
    for (const end of [() => () => {}, (response: any) => () => response.destroy()]) {
      shop.carrier.calls.length = 0;
      shop.carrier.faults.push((request, response) => spoil(request, response, end(response)));
      work({ timeoutMs: 2_000 });
      const id = await request({ parcels: [{ number: shop.carrier.labels.valid.length + 1 }] });
      assert.match(await fails(id), /no response within 2 seconds|closed before a response/);
      const { failure, trackingCodes } = await shop.becomes(id, "created");
      assert.deepEqual([failure, trackingCodes], [null, [shop.carrier.labels.get(uuidOf(id))!.trackingCode]]);
      assert.deepEqual(shop.carrier.calls, ["POST /labels", "GET /labels/…"]);
    }
  });

  it("is repeated after errors, busy times and answers that are none", async () => {
    const huge = "x".repeat(3_100_000);
    const answers: [Fault, RegExp][] = [
      [answering(500), /The response was 500\./],
      [
        answering(503, '{"error":"Closed for maintenance."}', { "retry-after": "1" }),
        /^Closed for maintenance\.$/,
      ],
      [answering(404), /The response was 404\./],
      [answering(302, "", { location: "http://127.0.0.1/" }), /redirections are not followed/],
      [answering(200, "<html>"), /has no label/],
      [answering(200, "{}"), /has no label \(trackingCodes/],
      [answering(201, '{"trackingCodes":["A\\u0000"]}'), /has no label/],
      [
        answering(201, '{"trackingCodes":["A"],"documentUrl":"javascript:alert(1)"}'),
        /has no label \(documentUrl/,
      ],
      [answering(201, '{"trackingCodes":["A"]}'), /neither document nor documentUrl/],
      [
        answering(
          201,
          '{"trackingCodes":["A"],"document":{"contentType":"application/pdf","content":"AAAA"}}',
        ),
        /is no PDF/,
      ],
      [answering(200, huge), /larger than 3 MB/],
    ];
    work();
    const ids = [];
    for (const [index, [fault, reason]] of answers.entries()) {
      shop.carrier.faults.push(fault);
      const id = await request({ parcels: [{ number: index + 1 }] });
      assert.match(await fails(id), reason);
      await shop.becomes(id, "created");
      ids.push(id);
    }
    assert.equal(madeFor(...ids), ids.length);
  });

  it("waits longer after each failure, as long as the carrier says, and then fails; a retry can make it", async () => {
    shop.carrier.faults.push(answering(429, "", { "retry-after": "50" }), ...Array(7).fill(answering(500)));
    const pauses: number[] = [];
    // Leases are shorter than pauses, so the test can tell them apart
    work({ leaseMs: 20_000 });
    const id = await request();
    const query =
      "select attempts, extract(epoch from due_at - clock_timestamp())::float8 as seconds from erp.shipping_label_work where shipping_label_id = $1";
    for (let attempt = 1; attempt < 8; attempt++) {
      let row: { attempts: number; seconds: number };
      await until(async () => {
        [row] = (await shop.sql(query, id)) as [typeof row];
        return row.attempts === attempt && row.seconds > 30;
      });
      pauses.push(row!.seconds);
      await shop.hurry();
    }
    const failed = await shop.becomes(id, "failed");
    assert.equal(failed.failure, "The response was 500.");
    assert.ok(pauses[0]! > 40 && pauses[0]! <= 50, "as Retry-After says");
    for (const [index, seconds] of [60, 300, 900, 1800, 3600, 7200].entries())
      assert.ok(Math.abs(pauses[index + 1]! - seconds) < 10, `${pauses[index + 1]} and not ${seconds}`);
    assert.deepEqual(
      await shop.sql("select from erp.shipping_label_work where shipping_label_id = $1", id),
      [],
    );
    await shop.mutate("shippingLabelRetry", { id });
    await shop.becomes(id, "created");
    assert.deepEqual(refusals(await shop.mutate("shippingLabelRetry", { id })), [
      ["INVALID_STATE_TRANSITION", null],
    ]);
    assert.equal(madeFor(id), 1);
  });

  it("that the carrier refuses fails at once, with its words, and is made when it is right", async () => {
    work();
    await shop.sql(
      `update erp.sales_order set shipping_address = '{"city": "Hamburg"}' where id = $1`,
      order,
    );
    const id = await request();
    const { failure } = await shop.becomes(id, "failed");
    assert.equal(failure, "The address of the recipient lacks street, countryIso.");
    const { rows } = await shop.owner.query("select topic from events.outbox where subject_id = $1", [
      uuidOf(id),
    ]);
    assert.deepEqual(rows, [{ topic: "shipping_label.failed" }]);
    await shop.sql(
      `update erp.sales_order set shipping_address = '{"city": "Hamburg", "street": "Hafenweg 3", "countryIso": "DE"}' where id = $1`,
      order,
    );
    const other = await request();
    assert.deepEqual(refusals(await shop.mutate("shippingLabelRetry", { id })), [["NOT_UNIQUE", "id"]]);
    await shop.becomes(other, "created");
    await shop.mutate("shippingLabelCancel", { id: other });
    await shop.becomes(other, "cancelled");
    await shop.mutate("shippingLabelRetry", { id });
    await shop.becomes(id, "created");
    assert.equal(madeFor(id, other), 1);
  });

  it("is called for once by two workers", async () => {
    const ids = await shop.request({ orderId: order, parcels: Array(25).fill({}) });
    work();
    work();
    for (const id of ids) await shop.becomes(id, "created");
    assert.deepEqual(shop.carrier.calls, Array(25).fill("POST /labels"));
  });

  it("of a worker that was suspended belongs to another by then, and both get the same label", async () => {
    const { fault, release } = hold();
    shop.carrier.faults.push(fault);
    work({ concurrency: 1 });
    const id = await request();
    await until(() => shop.carrier.calls.length === 1);
    // Its lease ends while it still waits for the carrier
    work();
    await shop.hurry();
    const { trackingCodes } = await shop.becomes(id, "created");
    release();
    await until(() => workers[0]!.log.some(({ msg }) => msg === "a job is done"));
    assert.deepEqual((await shop.label(id)).trackingCodes, trackingCodes);
    assert.equal(madeFor(id), 1);
  });

  it("waits while its carrier is switched off", async () => {
    const id = await request();
    await shop.owner.query("update erp.carrier set is_active = false");
    const worker = work();
    await until(() => worker.log.some(({ msg }) => msg === "a job is done"));
    assert.deepEqual([(await shop.label(id)).state, shop.carrier.calls], ["requested", []]);
    await shop.owner.query("update erp.carrier set is_active = true");
    await shop.hurry();
    await shop.becomes(id, "created");
  });

  it("goes to no address that the operator doesn't allow", async () => {
    const worker = work({ allow: [] });
    const id = await request();
    assert.match(await fails(id), /not on the public internet/);
    await worker.stop();
    work({ allow: ["localhost"] });
    await shop.owner.query(
      "update erp.carrier set url = 'http://example.com' where technical_name = 'other'",
    );
    const other = await request({ carrierTechnicalName: "other", parcels: [{ number: 2 }] });
    assert.match(await fails(other), /not sent to port 80, only to 443/);
    await shop.owner.query("update erp.carrier set url = $1", [shop.carrier.url]);
    assert.deepEqual(shop.carrier.calls, []);
  });

  describe("that is cancelled", () => {
    const cancel = async (id: string) => {
      const select = "shippingLabel { state cancellationRequestedAt }";
      const payload = await shop.mutate("shippingLabelCancel", { id }, { select });
      assert.deepEqual(payload.userErrors, []);
      return payload.shippingLabel;
    };

    it("before a worker took it never reaches the carrier", async () => {
      const id = await request();
      assert.equal((await cancel(id)).state, "cancelled");
      const worker = work();
      await until(() => worker.log.some(({ msg }) => msg === "a job is done"));
      assert.deepEqual(shop.carrier.calls, []);
    });

    it("while it is being made is cancelled at the carrier", async () => {
      for (const isLate of [false, true]) {
        const { fault, release } = hold();
        shop.carrier.faults.push(fault);
        work({ concurrency: 1 });
        const id = await request();
        await until(() => shop.carrier.calls.at(-1) === "POST /labels");
        const { state, cancellationRequestedAt } = await cancel(id);
        assert.ok(state === "requested" && cancellationRequestedAt !== null);
        await cancel(id);
        // The request for the label arrives after or before its cancellation
        if (!isLate) release();
        work();
        await shop.hurry();
        await shop.becomes(id, "cancelled");
        release();
        await until(() => workers.some(({ log }) => log.some(({ msg }) => msg === "a job is done")));
        await Promise.all(workers.splice(0).map((worker) => worker.stop()));
        const { state: last, trackingCodes } = await shop.label(id);
        assert.deepEqual([last, trackingCodes, madeFor(id)], ["cancelled", [], 0]);
        assert.deepEqual(await shop.trackingCodes(order), []);
        shop.carrier.calls.length = 0;
      }
    });

    it("after it was made loses its code and its file, once the carrier has confirmed", async () => {
      work();
      const id = await request();
      const { documentUrl } = await shop.becomes(id, "created");
      shop.carrier.faults.push(answering(500));
      assert.equal((await cancel(id)).state, "created");
      assert.deepEqual(refusals(await shop.mutate("shippingLabelRetry", { id })), [
        ["INVALID_STATE_TRANSITION", null],
      ]);
      await fails(id);
      const { cancelledAt, failure } = await shop.becomes(id, "cancelled");
      assert.ok(cancelledAt !== null && failure === null);
      assert.deepEqual([await shop.trackingCodes(order), madeFor(id)], [[], 0]);
      assert.equal((await fetch(new URL(documentUrl, shop.url))).status, 410);
    });

    it("but is on its way already, stays what it was", async () => {
      work();
      const id = await request();
      await shop.becomes(id, "created");
      shop.carrier.faults.push(answering(409, '{"error":"The parcel was handed over."}'));
      await cancel(id);
      await until(async () => (await shop.label(id)).failure !== null);
      const { state, failure, cancellationRequestedAt } = await shop.label(id);
      assert.deepEqual(
        [state, failure, cancellationRequestedAt],
        ["created", "The parcel was handed over.", null],
      );
      assert.equal((await shop.trackingCodes(order)).length, 1);
    });

    it("after it failed can't be tried again", async () => {
      shop.carrier.faults.push(answering(422), answering(500));
      work();
      const id = await request();
      await shop.becomes(id, "failed");
      await cancel(id);
      assert.deepEqual(refusals(await shop.mutate("shippingLabelRetry", { id })), [["NOT_EDITABLE", "id"]]);
      await until(async () => (await shop.label(id)).failure.includes("500"));
      await shop.hurry();
      await shop.becomes(id, "cancelled");
    });
  });
});
