import { refuse } from "../../answers.ts";
import type { Middleware, Response } from "../../pipeline.ts";

/**
 * Bytes of answers that clients haven't read yet: of one credential, and of all together. Beyond that, operations are
 * refused.
 */
const maxUnreadBytes = { ofOne: 32_000_000, ofAll: 192_000_000 };
/** Shorter answers fit into the system's buffers and aren't counted. */
const smallestCounted = 16_384;

export interface UnreadLimits {
  ofOne: number;
  ofAll: number;
}

/**
 * Limits unread answers: an answer stays in memory until its client has read it. A client that doesn't read gets no
 * more answers; beyond the total limit, no client does for a moment.
 */
export class UnreadAnswers {
  readonly #limits: UnreadLimits;
  readonly #ofCredential = new Map<string, number>();
  #bytes = 0;

  constructor(limits: UnreadLimits = maxUnreadBytes) {
    this.#limits = limits;
  }

  /** Refuses operations of clients that don't read their answers, and counts the answers of others. */
  readonly bound: Middleware<"caller"> = (request, response, next) => {
    const { credentialId } = response.locals.caller;
    if ((this.#ofCredential.get(credentialId) ?? 0) > this.#limits.ofOne) {
      response.setHeader("retry-after", "1");
      const message = "Earlier answers to this token have not been read yet. Read them first.";
      return refuse(request, response, 429, "THROTTLED", message);
    }
    if (this.#bytes > this.#limits.ofAll) {
      response.setHeader("retry-after", "1");
      const message = "The service has too many answers to send. Send the request again in a little while.";
      return refuse(request, response, 503, "SERVICE_UNAVAILABLE", message);
    }
    next();
  };

  /** Counts an answer that has just been ended, until it is read or its connection closes. */
  count(response: Response<"caller">): void {
    const bytes = response.writableLength;
    if (bytes < smallestCounted) return;
    const { credentialId } = response.locals.caller;
    this.#add(credentialId, bytes);
    response.once("close", () => this.#add(credentialId, -bytes));
  }

  /** Bytes that are not read yet. */
  get bytes(): number {
    return this.#bytes;
  }

  #add(credentialId: string, bytes: number): void {
    this.#bytes += bytes;
    const ofCredential = (this.#ofCredential.get(credentialId) ?? 0) + bytes;
    if (ofCredential > 0) this.#ofCredential.set(credentialId, ofCredential);
    else this.#ofCredential.delete(credentialId);
  }
}
