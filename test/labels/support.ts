import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { adapter, Labels } from "../../examples/carrier/adapter.ts";
import { makeLabelsTask } from "../../src/labels/make-labels.ts";
import { Secrets } from "../../src/secrets/secrets.ts";
import { startTestJobs } from "../jobs/support.ts";
import type { TestJobRunner } from "../jobs/support.ts";
import { uuidOf } from "../lib/ids.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ServiceOptions } from "../lib/service.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";

/** What a carrier does with one request, in place of answering it as usual. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The example of a carrier, whose next answers a test can spoil. */
export interface TestCarrier {
  url: string;
  labels: Labels;
  /** Method and path of each request, without ids. */
  calls: string[];
  /** What becomes of the next requests, one each. */
  faults: Fault[];
  /** Answers as the example does. */
  usual: RequestListener;
  close(): Promise<void>;
}

export const carrierSecret = "hunter2";

/** @param file where it keeps its labels */
export async function startCarrier(file: string): Promise<TestCarrier> {
  const labels = new Labels(file);
  const server = createServer((request, response) => {
    carrier.calls.push(`${request.method} ${request.url!.replace(/\/[0-9a-f-]{36}$/, "/…")}`);
    (carrier.faults.shift() ?? carrier.usual)(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const carrier: TestCarrier = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    labels,
    calls: [],
    faults: [],
    usual: adapter(carrierSecret, labels),
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
  return carrier;
}

/** Answers with a status and a body. */
export const answering =
  (status: number, body = "", headers: Record<string, string> = {}): Fault =>
  (request, response) =>
    request.resume().on("end", () => response.writeHead(status, headers).end(body));

export interface WorkOptions extends Partial<Parameters<typeof makeLabelsTask>[0]> {
  /** Most jobs of the worker. */
  concurrency?: number;
}

/** A shop with a carrier. */
export interface LabelShop extends ShippingShop {
  carrier: TestCarrier;
  /** An order with a fulfillment order and a full address. */
  newOrder(): Promise<{ order: string; fulfillmentOrder: string }>;
  /** Requests labels; returns their ids. */
  request(input: object): Promise<string[]>;
  label(id: string): Promise<any>;
  /** Starts a worker that calls carriers. */
  work(options?: WorkOptions): TestJobRunner;
  /** Ends pauses and leases: the work is due now. */
  hurry(): Promise<void>;
  /** Waits until a label has a state. */
  becomes(id: string, state: string): Promise<any>;
  trackingCodes(order: string): Promise<string[]>;
}

const address = {
  ...{ firstName: "Anna", lastName: "Becker", street: "Hafenweg 3", zipcode: "20457", city: "Hamburg" },
  ...{ countryIso: "DE", countryName: "Germany" },
};
const fields =
  "id state type failure parcelNumber trackingCodes trackingUrl documentUrl cancelledAt cancellationRequestedAt " +
  "carrierName weightInGrams fulfillmentOrderId orderId";

export async function openLabelShop(file: string, options: ServiceOptions = {}): Promise<LabelShop> {
  const shop = await openShippingShop(options);
  const carrier = await startCarrier(file);
  await shop.owner.query(
    `insert into erp.carrier (technical_name, name, url, secret, tracking_url_pattern) values ('example', 'Example', $1, $2, null),
       ('other', 'Other', $1, $2, 'https://track.example.com/?code={code}');`,
    [carrier.url, carrierSecret],
  );
  await shop.owner.query("update erp.warehouse set address = $1", [
    { ...address, company: "Bergfreunde OHG" },
  ]);
  const label = async (id: string) =>
    (await shop.read(`query ($id: ID!) { shippingLabel(id: $id) { ${fields} } }`, { id })).shippingLabel;
  return {
    ...shop,
    carrier,
    label,
    async newOrder() {
      const made = await shop.order(
        [{ product: "hammer", quantity: 2 }],
        [{ location: "hall", lines: [[0, 2]] }],
      );
      await shop.owner.query("update erp.sales_order set shipping_address = $1 where id = $2", [
        address,
        uuidOf(made.id),
      ]);
      return { order: made.id, fulfillmentOrder: made.fulfillmentOrders[0]!.id };
    },
    async request(input) {
      const wanted = { carrierTechnicalName: "example", ...input };
      const payload = await shop.mutate("shippingLabelRequest", wanted, { select: "shippingLabels { id }" });
      if (payload.userErrors.length > 0) throw new Error(JSON.stringify(payload.userErrors));
      return payload.shippingLabels.map(({ id }: { id: string }) => id);
    },
    work({ concurrency = 2, ...rest } = {}) {
      const task = makeLabelsTask({
        secrets: new Secrets([]),
        allow: ["127.0.0.1"],
        ...rest,
      });
      return startTestJobs(shop.loginUrl, { make_shipping_labels: task }, { concurrency });
    },
    async hurry() {
      await shop.owner.query("update erp.shipping_label_work set due_at = now()");
    },
    async becomes(id, state) {
      let present: any;
      await until(async () => {
        present = await label(id);
        return present.state === state;
      });
      return present;
    },
    async trackingCodes(id) {
      const found = await shop.read("query ($id: ID!) { order(id: $id) { trackingCodes } }", { id });
      return found.order.trackingCodes;
    },
    async close() {
      await shop.close();
      await carrier.close();
    },
  };
}
