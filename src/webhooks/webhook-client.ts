import { once } from "node:events";
import http from "node:http";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import type { AllowList } from "./addresses.ts";
import { parseDestination, guardedLookup, RefusedDestination } from "./destination.ts";

/** The response of a receiver. */
export interface ReceiverResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The beginning of the body. */
  body: string;
}

export interface OutgoingMessage {
  method: string;
  headers: Record<string, string>;
  body?: string;
}

export type ReadBody = (response: IncomingMessage) => Promise<string>;

/** Thrown if there was no response. The message is for the subscriber. */
export class NoResponse extends Error {
  override name = "NoAnswer";
}

export interface WebhookClientOptions {
  /** Destinations that are allowed in addition to the public internet. */
  allowed: AllowList;
  /** Milliseconds for the whole attempt, including the DNS look-up. */
  timeoutMs?: number;
  /** Milliseconds for reading the body. The status has already decided the result. */
  bodyTimeoutMs?: number;
  /** The DNS look-up. */
  lookup?: LookupFunction;
  /** Certificate authorities, instead of Node's. */
  ca?: string;
}

/** Most bytes read of a response. The first 1,000 characters of these are stored. */
const readBytes = 16_384;
const keptCharacters = 1_000;
/** Most idle connections kept to one host, and for how long. */
const agentOptions = { keepAlive: true, maxFreeSockets: 8, timeout: 20_000 };

/**
 * Sends webhooks. It follows no redirects, has timeouts, reads no more than it needs, and connects only to allowed
 * addresses. Connections are kept for the next message to the same host.
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
   * @throws {NoResponse | RefusedDestination} if there was no response
   */
  post(address: string, headers: Record<string, string>, body: string): Promise<ReceiverResponse> {
    const read = (response: IncomingMessage) => readBeginning(response, this.#bodyTimeoutMs);
    return this.request({ method: "POST", headers, body }, address, read);
  }

  /**
   * Sends a request once.
   *
   * @param read reads the body of the response
   * @throws {NoResponse | RefusedDestination} if there was no response
   */
  async request(message: OutgoingMessage, address: string, read: ReadBody): Promise<ReceiverResponse> {
    const url = parseDestination(address, this.#allowed);
    const tooLate = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await this.#send(url, message, read, tooLate);
    } catch (error) {
      if (error instanceof RefusedDestination || error instanceof NoResponse) throw error;
      if (tooLate.aborted)
        throw new NoResponse(`There was no response within ${this.#timeoutMs / 1000} seconds.`, {
          cause: error,
        });
      throw new NoResponse(describeFailure(error as NodeJS.ErrnoException), { cause: error });
    }
  }

  /** Aborts the running requests. */
  close(): void {
    this.#isClosed = true;
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #send(
    url: URL,
    message: OutgoingMessage,
    read: ReadBody,
    signal: AbortSignal,
    isLast = false,
  ): Promise<ReceiverResponse> {
    const { method, headers, body } = message;
    const { request: open } = url.protocol === "https:" ? https : http;
    const request = open(url, {
      method,
      headers: { ...headers, ...(body !== undefined && { "content-length": Buffer.byteLength(body) }) },
      agent: this.#agents[url.protocol]!,
      lookup: this.#lookup,
      signal,
    });
    // Errors may also come when nobody waits for the response any more
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
        return this.#send(url, message, read, signal, true);
      throw error;
    }
    return {
      status: response.statusCode!,
      headers: response.headers,
      body: await read(response),
    };
  }
}

/** Reads the first characters of a body. Errors don't matter: the status is known. */
async function readBeginning(response: IncomingMessage, bodyTimeoutMs: number): Promise<string> {
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
    // The body was cut off
  } finally {
    clearTimeout(giveUp);
  }
  const text = Buffer.concat(parts).subarray(0, readBytes).toString("utf8");
  // Postgres can't store null characters
  return [...text.replaceAll("\0", "")].slice(0, keptCharacters).join("");
}

const reasons: Record<string, string> = {
  ENOTFOUND: "The host name is not known.",
  EAI_AGAIN: "The host name can't be looked up at the moment.",
  ECONNREFUSED: "The connection was refused.",
  ECONNRESET: "The connection was closed before a response came.",
  EPIPE: "The connection was closed before a response came.",
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

function describeFailure({
  code = "",
  errors,
}: NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }): string {
  // With several addresses, none of which responded, each error is in `errors`
  const known = reasons[code || (errors?.[0]?.code ?? "")];
  if (known) return known;
  if (/^HPE_/.test(code)) return "The response was not HTTP.";
  if (/^(ERR_SSL|EPROTO|ERR_TLS)/.test(code)) return "No secure connection could be made.";
  return "The connection failed.";
}
