import { once } from "node:events";
import http from "node:http";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import type { AllowList } from "./addresses.ts";
import { destinationOf, guardedLookup, RefusedDestination } from "./destination.ts";

/** The answer of a receiver. */
export interface ReceiverAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The beginning of its body. */
  body: string;
}

/** Why there was no answer, for the subscriber. */
export class NoAnswer extends Error {
  override name = "NoAnswer";
}

export interface WebhookClientOptions {
  /** Destinations that are allowed beside the public internet. */
  allowed: AllowList;
  /** Milliseconds for the whole attempt, including looking up the name. */
  timeoutMs?: number;
  /** Milliseconds for reading the body after the headers; the status has already decided. */
  bodyTimeoutMs?: number;
  /** Looks names up. */
  lookup?: LookupFunction;
  /** Certificate authorities, if not those of Node. */
  ca?: string;
}

/** Bytes of an answer that are read. The first 1,000 characters of these are kept. */
const readBytes = 16_384;
const keptCharacters = 1_000;
/** Connections to one host at a time, and how long an idle one is kept. */
const agentOptions = { keepAlive: true, maxFreeSockets: 8, timeout: 20_000 };

/**
 * Sends webhooks. It follows no redirections, has time limits, reads no more than it needs, and connects only to
 * allowed addresses. Connections are kept for the next message to the same host.
 */
export class WebhookClient {
  readonly #allowed: AllowList;
  readonly #timeoutMs: number;
  readonly #bodyTimeoutMs: number;
  readonly #agents: Record<string, http.Agent>;
  readonly #lookup: LookupFunction;
  #isClosed = false;

  constructor({ allowed, timeoutMs = 15_000, bodyTimeoutMs = 2_000, lookup, ca }: WebhookClientOptions) {
    this.#allowed = allowed;
    this.#timeoutMs = timeoutMs;
    this.#bodyTimeoutMs = bodyTimeoutMs;
    this.#lookup = lookup ?? guardedLookup(allowed);
    this.#agents = {
      "http:": new http.Agent(agentOptions),
      "https:": new https.Agent({ ...agentOptions, ca }),
    };
  }

  /**
   * Sends a message once.
   *
   * @throws {NoAnswer | RefusedDestination} when there was no answer
   */
  async post(address: string, headers: Record<string, string>, body: string): Promise<ReceiverAnswer> {
    const url = destinationOf(address, this.#allowed);
    const tooLate = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await this.#send(url, headers, body, tooLate);
    } catch (error) {
      if (error instanceof RefusedDestination) throw error;
      if (tooLate.aborted)
        throw new NoAnswer(`There was no answer within ${this.#timeoutMs / 1000} seconds.`, { cause: error });
      throw new NoAnswer(inWords(error as NodeJS.ErrnoException), { cause: error });
    }
  }

  /** Aborts the running requests. */
  close(): void {
    this.#isClosed = true;
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #send(
    url: URL,
    headers: Record<string, string>,
    body: string,
    signal: AbortSignal,
    isLast = false,
  ): Promise<ReceiverAnswer> {
    const { request: open } = url.protocol === "https:" ? https : http;
    const request = open(url, {
      method: "POST",
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
      agent: this.#agents[url.protocol]!,
      lookup: this.#lookup,
      signal,
    });
    // Also when nobody waits for the answer any more
    request.on("error", () => {});
    const answered = once(request, "response", { signal }) as Promise<[IncomingMessage]>;
    request.end(body);
    let response: IncomingMessage;
    try {
      [response] = await answered;
    } catch (error) {
      // The other side closed an idle connection just when it was used again
      const wasStale = request.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (wasStale && !isLast && !signal.aborted && !this.#isClosed)
        return this.#send(url, headers, body, signal, true);
      throw error;
    }
    return {
      status: response.statusCode!,
      headers: response.headers,
      body: await beginningOf(response, this.#bodyTimeoutMs),
    };
  }
}

/** The first characters of a body. Errors while reading it don't matter: the status is known. */
async function beginningOf(response: IncomingMessage, bodyTimeoutMs: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  const giveUp = setTimeout(() => response.destroy(), bodyTimeoutMs);
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      size += part.length;
      if (size >= readBytes) break;
    }
  } catch {
    // cut off
  } finally {
    clearTimeout(giveUp);
  }
  const text = Buffer.concat(parts).subarray(0, readBytes).toString("utf8");
  // Postgres keeps no null characters
  return [...text.replaceAll("\0", "")].slice(0, keptCharacters).join("");
}

const reasons: Record<string, string> = {
  ENOTFOUND: "The host name is not known.",
  EAI_AGAIN: "The host name can't be looked up at the moment.",
  ECONNREFUSED: "The connection was refused.",
  ECONNRESET: "The connection was closed before an answer came.",
  EPIPE: "The connection was closed before an answer came.",
  ETIMEDOUT: "The connection timed out.",
  EHOSTUNREACH: "The host can't be reached.",
  ENETUNREACH: "The host can't be reached.",
  CERT_HAS_EXPIRED: "The certificate has expired.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The certificate is self-signed.",
  SELF_SIGNED_CERT_IN_CHAIN: "The certificate is signed by an unknown authority.",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "The certificate is signed by an unknown authority.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "The certificate is signed by an unknown authority.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The certificate is for another name.",
};

function inWords({
  code = "",
  errors,
}: NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }): string {
  // Of several addresses of a name none answered
  const known = reasons[code || (errors?.[0]?.code ?? "")];
  if (known) return known;
  if (/^HPE_/.test(code)) return "The answer was not HTTP.";
  if (/^(ERR_SSL|EPROTO|ERR_TLS)/.test(code)) return "No secure connection could be made.";
  return "The connection failed.";
}
