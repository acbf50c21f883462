import type { RequestHandler, Response } from "express";
import { refuse } from "./answers.ts";

/** Bytes of answers that clients haven't read yet: of one credential, and of all together. Beyond them no more is done. */
const maxUnreadBytes = { ofOne: 32_000_000, ofAll: 192_000_000 };
/** Shorter answers lie in the buffers of the system, and aren't worth counting. */
const smallestCounted = 16_384;

export interface UnreadLimits {
  ofOne: number;
  ofAll: number;
}

/**
 * Bounds the answers that nobody reads: what has been made for a client stays in memory until it has come and got it.
 * One that doesn't read gets no more answers; and when all together is too much, nobody does, for a moment.
 */
export class UnreadAnswers {
  readonly #limits: UnreadLimits;
  readonly #ofCredential = new Map<string, number>();
  #bytes = 0;

  constructor(limits: UnreadLimits = maxUnreadBytes) {
    this.#limits = limits;
  }

  /** Refuses operations of clients that don't read what they asked for, and counts the answers of others. */
  readonly bound: RequestHandler = (request, response, next) => {
    const { credentialId } = response.locals.caller!;
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

  /** Counts an answer that has just been ended, until it is read or its connection gone. */
  count(response: Response): void {
    const bytes = response.writableLength;
    if (bytes < smallestCounted) return;
    const { credentialId } = response.locals.caller!;
    this.#add(credentialId, bytes);
    response.once("close", () => this.#add(credentialId, -bytes));
  }

  /** Counts the answer that a middleware behind it ends, which is not ours. */
  readonly countNext: RequestHandler = (_request, response, next) => {
    const end = response.end.bind(response) as (...args: unknown[]) => Response;
    response.end = (...args: unknown[]) => {
      const result = end(...args);
      this.count(response);
      return result;
    };
    next();
  };

  /** Bytes that wait to be read. */
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
