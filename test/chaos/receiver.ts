import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { freePort } from "../lib/free-port.ts";

/** How a receiver behaves. */
export type Mood = "well" | "failing" | "slow" | "silent";

/** Milliseconds that a slow receiver takes. */
const slowMs = 3_000;

/** What the receiver knows of an event. */
export interface Message {
  id: string;
  sequence: number;
  previousSequence: number | null;
  entity: string;
  movement: string;
  /** When it came first, and when it was first accepted, by the count of what has happened. */
  cameAt: number;
  acceptedAt: number | null;
  /** How often it was accepted. */
  times: number;
}

/** A receiver of webhooks, as the guide says that one is made: it counts each event once, by its id. */
export class Receiver {
  readonly url: string;
  readonly messages = new Map<string, Message>();
  readonly violations: string[] = [];
  mood: Mood = "well";
  accepted = 0;
  repeated = 0;
  #server: Server | null = null;
  #count = 0;
  readonly #port: number;
  readonly #webhook: Webhook;

  private constructor(port: number, secret: string) {
    this.#port = port;
    this.#webhook = new Webhook(secret);
    this.url = `http://127.0.0.1:${port}/`;
  }

  static async open(secret: string): Promise<Receiver> {
    const receiver = new Receiver(await freePort(), secret);
    await receiver.start();
    return receiver;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => this.#receive(request, Buffer.concat(parts).toString(), response));
    }).listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  }

  #receive({ headers }: IncomingMessage, text: string, response: ServerResponse): void {
    try {
      this.#webhook.verify(text, headers as Record<string, string>);
    } catch (error) {
      this.violations.push(`a message has a wrong signature: ${error}`);
    }
    const message = this.#note(String(headers["webhook-id"]), JSON.parse(text));
    if (this.mood === "silent") return;
    if (this.mood === "failing") return void response.writeHead(500).end();
    const accept = () => {
      if (response.destroyed) return;
      message.acceptedAt ??= this.#count++;
      this.accepted++;
      if (message.times++ > 0) this.repeated++;
      response.writeHead(204).end();
    };
    // A slow one is part of the chaos
    if (this.mood === "slow") setTimeout(accept, slowMs);
    else accept();
  }

  #note(id: string, body: any): Message {
    const { sequence, previousSequence, data } = body;
    const known = this.messages.get(id);
    if (known) {
      if (known.sequence !== sequence || known.movement !== data.id)
        this.violations.push(`event ${id} was number ${known.sequence}, and then ${sequence}`);
      return known;
    }
    const message: Message = {
      ...{ id, sequence, previousSequence, entity: data.productId, movement: data.id },
      ...{ cameAt: this.#count++, acceptedAt: null, times: 0 },
    };
    this.messages.set(id, message);
    return message;
  }
}
