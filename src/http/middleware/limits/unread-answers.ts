import { refuse } from "../../answers.ts";
import type { Middleware, Response } from "../../pipeline.ts";

/**
 * The maximum number of bytes of responses that clients haven't read yet: of one API credential, and of all together.
 * Beyond that, operations are refused.
 */
const maxUnreadBytes = { ofOne: 32_000_000, ofAll: 192_000_000 };
/** Bytes from which a response counts: shorter ones fit into the operating system's buffers. */
const minCountedBytes = 16_384;

export interface UnreadLimits {
  ofOne: number;
  ofAll: number;
}

/**
 * Limits unread responses, which stay in memory until their client has read them. A client that doesn't read is refused;
 * beyond the total limit, all clients are refused for a moment.
 */
export class UnreadResponses {
  readonly #limits: UnreadLimits;
  readonly #bytesByCredential = new Map<string, number>();
  #bytes = 0;

  constructor(limits: UnreadLimits = maxUnreadBytes) {
    this.#limits = limits;
  }

  /** Refuses operations of clients that don't read their responses, and of all clients beyond the total limit. */
  readonly refuseBeyondLimit: Middleware<"caller"> = (request, response, next) => {
    const { credentialId } = response.locals.caller;
    if ((this.#bytesByCredential.get(credentialId) ?? 0) > this.#limits.ofOne) {
      response.setHeader("retry-after", "1");
      const message = "Earlier responses to this API credential have not been read yet. Read them first.";
      return refuse(request, response, 429, "THROTTLED", message);
    }
    if (this.#bytes > this.#limits.ofAll) {
      response.setHeader("retry-after", "1");
      const message = "The service has too many responses to send. Send the request again in a moment.";
      return refuse(request, response, 503, "SERVICE_UNAVAILABLE", message);
    }
    next();
  };

  /** Counts a response that has just been ended, until it is read or its connection closes. */
  count(response: Response<"caller">): void {
    const bytes = response.writableLength;
    if (bytes < minCountedBytes) return;
    const { credentialId } = response.locals.caller;
    this.#add(credentialId, bytes);
    response.once("close", () => this.#add(credentialId, -bytes));
  }

  /** The number of bytes that have not been read yet. */
  get bytes(): number {
    return this.#bytes;
  }

  #add(credentialId: string, bytes: number): void {
    this.#bytes += bytes;
    const credentialBytes = (this.#bytesByCredential.get(credentialId) ?? 0) + bytes;
    if (credentialBytes > 0) this.#bytesByCredential.set(credentialId, credentialBytes);
    else this.#bytesByCredential.delete(credentialId);
  }
}
