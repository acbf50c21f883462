import type { ServerResponse } from "node:http";
import { once } from "node:events";

/** Milliseconds between two signs of life: fewer than proxies and the server wait for. */
const heartbeatMs = 15_000;
/** Milliseconds that a client may take to read what it was sent. */
const readingMs = 30_000;

/** A message of a stream. */
export interface Message {
  /** Position after it, which clients send as Last-Event-ID when they connect again. */
  id?: string | undefined;
  /** Its kind; without one, browsers take it for a `message`. */
  event?: string | undefined;
  /** One line. */
  data: string;
}

/** An answer of server-sent events (the HTML standard, section 9.2), which begins at once. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #ended = new AbortController();

  constructor(response: ServerResponse) {
    this.#response = response;
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

  /** Sends a message, and waits until the client has room for another one. A client that doesn't read is cut off. */
  async send({ id, event, data }: Message): Promise<void> {
    if (this.#isOver()) return;
    const fields = { id, event, data };
    const lines = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}: ${value}\n`],
    );
    if (this.#response.write(`${lines.join("")}\n`)) return;
    const late = setTimeout(() => this.#response.destroy(), readingMs).unref();
    try {
      await once(this.#response, "drain", { signal: this.ended });
    } catch {
      // It has ended
    } finally {
      clearTimeout(late);
    }
  }

  /** Ends the stream, with a last message. */
  end(message?: Message): void {
    if (this.#isOver()) return;
    if (message) void this.send(message);
    this.#response.end();
    this.#close();
  }

  #isOver(): boolean {
    return this.ended.aborted || this.#response.writableEnded;
  }

  #close(): void {
    clearInterval(this.#heartbeat);
    this.#ended.abort();
  }
}
