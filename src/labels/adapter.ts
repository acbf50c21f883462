import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { AllowList } from "../webhooks/addresses.ts";
import { hostOf, parseDestination, RefusedDestination } from "../webhooks/destination.ts";
import { parseRetryAfter } from "../webhooks/retry-schedule.ts";
import { NoResponse } from "../webhooks/webhook-client.ts";
import type { ReceiverResponse, WebhookClient } from "../webhooks/webhook-client.ts";

/** A reason to call a carrier's adapter. */
export interface LabelWork {
  /** Id of the label, which is the key of the request. */
  id: string;
  isCancellation: boolean;
  /** Whether an earlier call may have made the label. */
  isRepeated: boolean;
  /** The body of the request for a label. */
  request: unknown;
  url: string;
}

/** The result of a call, as erp.settle_shipping_label knows it. */
export type Outcome =
  | { kind: "created"; answer: Made; content: Buffer | null }
  | { kind: "cancelled"; answer: null }
  | { kind: "failed" | "kept"; answer: { reason: string } }
  | { kind: "later"; answer: { reason: string; retryAfterMs?: number | null } };

export interface CallOptions {
  allowed: AllowList;
  client: Pick<WebhookClient, "request">;
  secret: string;
  /** Whether this process still holds the lease for as long as a request may take. */
  isHeld: () => boolean;
}

const readable = z.string().regex(/^[^\p{Cc}]+$/u);
const webAddress = z
  .url({ protocol: /^https?$/ })
  .regex(/^[!-~]+$/)
  .max(2_000);
const madeLabel = z.object({
  trackingCodes: z.array(readable.max(255)).max(20),
  trackingUrl: webAddress.nullish(),
  documentUrl: webAddress.nullish(),
  document: z
    .object({
      contentType: z
        .string()
        .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/)
        .max(100),
      content: z.base64().min(4),
    })
    .nullish(),
});
const refusal = z.object({ error: z.string().min(1) });

/** A label as the adapter describes it, without its file. */
type Made = Omit<z.infer<typeof madeLabel>, "document"> & { contentType?: string };

/** Most bytes of a response, and of the label in it. */
const [maxAnswerBytes, maxLabelBytes] = [3_000_000, 2_000_000];
/** Statuses that say that the adapter will never make this label. Others may be different at the next attempt. */
const finalStatuses = [400, 409, 410, 413, 422];
export const later = (reason: string, retryAfterMs?: number | null): Outcome => ({
  kind: "later",
  answer: { reason, retryAfterMs },
});

/** Destinations of adapters: those that are allowed, and on the public internet only https: at its usual port. */
export const adapterDestinations = (allow: readonly string[]): AllowList => new AllowList(allow, [443]);

/**
 * Parses the address of an adapter.
 *
 * @throws {RefusedDestination} if it may not be called
 */
export function parseAdapterAddress(text: string, allowed: AllowList): URL {
  const url = parseDestination(text, allowed);
  const host = hostOf(url);
  if (url.protocol === "http:" && !allowed.hasName(host) && !allowed.hasAddress(host))
    throw new RefusedDestination(
      "Carriers are called by https:, and by http: only if CARRIER_ALLOW has the host.",
    );
  return url;
}

/** Calls the adapter of a carrier for one label. A label that may exist already is looked for first. */
export async function callAdapter(work: LabelWork, options: CallOptions): Promise<Outcome> {
  const { allowed, client, secret, isHeld } = options;
  try {
    const base = parseAdapterAddress(work.url, allowed).href.replace(/\/*$/, "");
    const send = (method: string, path: string, body?: string) => {
      const headers = {
        authorization: `Bearer ${secret}`,
        "idempotency-key": work.id,
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
      };
      return client.request({ method, headers, body }, `${base}${path}`, readWhole);
    };
    const own = `/labels/${work.id}`;
    if (work.isCancellation) return interpretCancellation(await send("DELETE", own));
    if (work.isRepeated) {
      const found = await send("GET", own);
      if (found.status !== 404) return interpretLabel(found);
    }
    // This process may have been suspended, and another process may be calling by now
    if (!isHeld()) return later("The service was too slow.");
    return interpretLabel(await send("POST", "/labels", JSON.stringify(work.request)));
  } catch (error) {
    if (!(error instanceof NoResponse || error instanceof RefusedDestination)) throw error;
    return later(error.message);
  }
}

function interpretLabel(response: ReceiverResponse): Outcome {
  const { status, body } = response;
  if (finalStatuses.includes(status)) return { kind: "failed", answer: { reason: reasonOf(response) } };
  if (status !== 200 && status !== 201) return unanswered(response);
  const { data, error } = madeLabel.safeParse(parseJson(body));
  if (error) {
    const { path, message } = error.issues[0]!;
    return later(`The response has no label (${[...path, message].join(" ").slice(0, 200)}).`);
  }
  const { document, ...answer } = data;
  if (!document) {
    if (!answer.documentUrl) return later("The response has neither document nor documentUrl.");
    return { kind: "created", answer, content: null };
  }
  const content = Buffer.from(document.content, "base64");
  if (content.length > maxLabelBytes)
    return later(`The label is larger than ${maxLabelBytes / 1_000_000} MB.`);
  const { contentType } = document;
  if (contentType === "application/pdf" && !content.subarray(0, 5).equals(Buffer.from("%PDF-")))
    return later("The label is no PDF.");
  return { kind: "created", answer: { ...answer, contentType }, content };
}

function interpretCancellation(response: ReceiverResponse): Outcome {
  const { status } = response;
  if ([200, 204, 404, 410].includes(status)) return { kind: "cancelled", answer: null };
  if (finalStatuses.includes(status)) return { kind: "kept", answer: { reason: reasonOf(response) } };
  return unanswered(response);
}

const unanswered = (response: ReceiverResponse): Outcome =>
  later(reasonOf(response), parseRetryAfter(response.headers["retry-after"], Date.now()));

/** Returns what the adapter says about a refusal, for people. */
function reasonOf({ status, body }: ReceiverResponse): string {
  const { data } = refusal.safeParse(parseJson(body));
  const said = data?.error.replaceAll(/[\p{Cc}\p{Cs}]+/gu, " ").trim();
  const redirected = status >= 300 && status < 400 ? ", and redirections are not followed" : "";
  return said ? said.slice(0, 1_000) : `The response was ${status}${redirected}.`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Reads a body as a whole. @throws {NoResponse} if it is too large */
async function readWhole(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxAnswerBytes)
      throw new NoResponse(`The response is larger than ${maxAnswerBytes / 1_000_000} MB.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
