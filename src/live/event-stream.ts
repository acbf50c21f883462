import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { ExecutionResult } from "postgraphile/graphql";

/** Milliseconds between two heartbeats: less than the idle timeouts of proxies and of the server. */
const heartbeatMs = 15_000;
/** Milliseconds that a client may take to read a message. */
const readingMs = 30_000;

interface Message {
  /** The position after it, which clients send as Last-Event-ID when they reconnect. */
  id?: string | undefined;
  /** Its kind; without one, browsers dispatch a `message` event. */
  event?: string;
  /** The data, in one line. */
  data: string;
}

/**
 * A response as server-sent events (the HTML standard, section 9.2), which begins at once. It follows the protocol GraphQL over
 * SSE in its distinct connections mode: events `next`, then `complete`. A plain stream has messages with the same data as
 * webhooks, and an `error` with the reason if it fails.
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
      // Stops nginx from buffering the stream
      "x-accel-buffering": "no",
    });
    response.write(":\n\n");
    this.#heartbeat = setInterval(() => response.write(":\n\n"), heartbeatMs).unref();
    response.once("close", () => this.#close());
    // The client may have left while the response was prepared
    if (response.closed) this.#close();
  }

  /** Aborted when the client has left or the stream has been ended. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Sends a result, and waits until the client can take another one. A client that doesn't read is disconnected. */
  async next(result: ExecutionResult, cursor?: string): Promise<void> {
    const { data, errors } = result;
    if (!this.#isPlain) {
      const answer = cursor === undefined ? result : { ...result, extensions: { cursor } };
      return this.#send({ id: cursor, event: "next", data: JSON.stringify(answer) });
    }
    if (errors) return this.#send({ event: "error", data: JSON.stringify({ errors }) });
    return this.#send({ id: cursor, data: JSON.stringify(Object.values(data!)[0]) });
  }

  /** Ends the stream, after an event that says so. */
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
    const readTimeout = setTimeout(() => this.#response.destroy(), readingMs).unref();
    try {
      await once(this.#response, "drain", { signal: this.ended });
    } catch {
      // It has ended
    } finally {
      clearTimeout(readTimeout);
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
