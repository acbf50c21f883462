import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { ExecutionResult } from "postgraphile/graphql";

/** Milliseconds between two signs of life: fewer than proxies and the server wait for. */
const heartbeatMs = 15_000;
/** Milliseconds that a client may take to read what it was sent. */
const readingMs = 30_000;

interface Message {
  /** Position after it, which clients send as Last-Event-ID when they connect again. */
  id?: string | undefined;
  /** Its kind; without one, browsers take it for a `message`. */
  event?: string;
  /** One line. */
  data: string;
}

/**
 * Answers as server-sent events (the HTML standard, section 9.2), of which the first bytes are sent at once. Their form is
 * the protocol GraphQL over SSE, in its mode of distinct connections: events `next`, then `complete`. In the plain form they are
 * messages with the events themselves, as webhooks have them, and an `error` says why the stream ends.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #isPlain: boolean;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #ended = new AbortController();

  constructor(response: ServerResponse, isPlain: boolean) {
    this.#response = response;
    this.#isPlain = isPlain;
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      // nginx would collect what is meant for now
      "x-accel-buffering": "no",
    });
    response.write(":\n\n");
    this.#heartbeat = setInterval(() => response.write(":\n\n"), heartbeatMs).unref();
    response.once("close", () => this.#close());
    // The client may have left while the answer was prepared
    if (response.closed) this.#close();
  }

  /** Aborted when the client has left or the stream has been ended. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Sends an answer, and waits until the client has room for another one. A client that doesn't read is cut off. */
  async next(result: ExecutionResult, cursor?: string): Promise<void> {
    const { data, errors } = result;
    if (!this.#isPlain) {
      const answer = cursor === undefined ? result : { ...result, extensions: { cursor } };
      return this.#send({ id: cursor, event: "next", data: JSON.stringify(answer) });
    }
    if (errors) return this.#send({ event: "error", data: JSON.stringify({ errors }) });
    return this.#send({ id: cursor, data: JSON.stringify(Object.values(data!)[0]) });
  }

  /** Ends the stream, and says that nothing more will come. */
  complete(): void {
    if (this.#isOver()) return;
    if (!this.#isPlain) void this.#send({ event: "complete", data: "" });
    this.#response.end();
    this.#close();
  }

  async #send({ id, event, data }: Message): Promise<void> {
    if (this.#isOver()) return;
    const lines = Object.entries({ id, event, data }).filter(([, value]) => value !== undefined);
    const text = lines.map(([name, value]) => `${name}: ${value}\n`).join("");
    if (this.#response.write(`${text}\n`)) return;
    const late = setTimeout(() => this.#response.destroy(), readingMs).unref();
    try {
      await once(this.#response, "drain", { signal: this.ended });
    } catch {
      // It has ended
    } finally {
      clearTimeout(late);
    }
  }

  #isOver(): boolean {
    return this.ended.aborted || this.#response.writableEnded;
  }

  #close(): void {
    clearInterval(this.#heartbeat);
    this.#ended.abort();
  }
}
