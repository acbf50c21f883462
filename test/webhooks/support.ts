import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type pg from "pg";
import { pino } from "pino";
import { Webhook } from "standardwebhooks";
import { createPool } from "../../src/postgres/pool.ts";
import { AllowList } from "../../src/webhooks/addresses.ts";
import type { ReadPayload } from "../../src/webhooks/payload.ts";
import { startWebhooks } from "../../src/webhooks/start.ts";
import type { WebhookOptions, Webhooks } from "../../src/webhooks/start.ts";

/** A message that a receiver got. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body, read as JSON. */
  body: any;
}

/** The receiver of a test. */
export interface Receiver {
  url: string;
  received: Received[];
  /** Its answer; 204 by default. */
  answer: (message: Received, response: ServerResponse) => unknown;
  close(): Promise<void>;
}

/** Starts a receiver on this machine. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString();
      const { url: path = "", headers } = request;
      const message = { path, headers, text, body: JSON.parse(text) };
      receiver.received.push(message);
      receiver.answer(message, response);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: (_, response) => response.writeHead(204).end(),
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
  return receiver;
}

export const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

/** A subscription, by default made by an administrator. Returns its id. */
export async function subscribe(
  owner: pg.Pool | pg.Client,
  {
    secret = newSecret(),
    ...columns
  }: { topic: string; url: string; secret?: string; [column: string]: unknown },
): Promise<string> {
  const row = { id: randomUUID(), api_version: "unstable", ...columns };
  const names = Object.keys(row);
  await owner.query(
    `insert into events.webhook_subscription (${names.join()}) values (${names.map((_, index) => `$${index + 1}`).join()})`,
    Object.values(row),
  );
  await owner.query("insert into events.webhook_secret (subscription_id, secret) values ($1, $2)", [
    row.id,
    secret,
  ]);
  return row.id;
}

/** Senders of a test, which send to this machine. */
export interface TestWebhooks extends Webhooks {
  log: any[];
}

/** Payloads from the event, ignoring payloadQuery. */
export const readPlain: ReadPayload = async ({ body }) => body.data;

export function startTestWebhooks(url: string, options: Partial<WebhookOptions> = {}): TestWebhooks {
  const log: any[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const allowed = new AllowList(["127.0.0.1"]);
  return {
    log,
    ...startWebhooks({
      url,
      ...{ concurrency: 8, stopTimeoutMs: 300, allowed, logger, readPayload: readPlain },
      ...options,
    }),
  };
}

/** Delays that are so much shorter, without randomness. */
export const fast = (pace: number) => ({ pace, random: () => 0.5 });

/** That a message was signed with this secret. */
export function verifySignature({ headers, text }: Received, secret: string): void {
  new Webhook(secret).verify(text, headers as Record<string, string>);
}

/** Connections of a test for payload queries. */
export const openPayloadPool = (loginUrl: string, max = 2): pg.Pool =>
  createPool(loginUrl, { max, name: "webhook payloads" });
