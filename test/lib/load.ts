import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Results of clients' requests under load. */
export interface LoadReport {
  /** Number of responses by status. */
  statuses: Record<number, number>;
  /** Comments of bookings that were confirmed. */
  booked: string[];
  /** GraphQL errors, as JSON. */
  errors: string[];
  /** Requests whose connection ended without a response, which must never happen. */
  cut: string[];
  /** Connections that were refused. */
  refused: number;
}

export interface ClientLoadOptions {
  /** Address of the API, such as http://127.0.0.1:4000. */
  address: string;
  token: string;
  clients: number;
  /** The line of `stockAdjust` in every second request of a client. */
  line: object;
}

/** A response and its body. */
export interface PlainAnswer {
  status: number;
  text: string;
  /** Whether the server announces that it closes the connection. */
  closes: boolean;
}

/** Sends a request by an agent, which decides whether to keep the connection. */
export function send(agent: Agent, url: string, token: string | null, body?: object): Promise<PlainAnswer> {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body ? "POST" : "GET", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("error", reject).on("end", () => {
        resolve({ status: response.statusCode!, text, closes: response.headers.connection === "close" });
      });
    });
    sent.on("error", reject).end(body && JSON.stringify(body));
  });
}

const read = "{ products(first: 2) { edges { node { id } } } }";
const book = `mutation ($input: StockAdjustInput!) {
  stockAdjust(input: $input) { stockMovements { id } userErrors { code } } }`;

/**
 * Clients that read and book all the time, each on one connection that it keeps as long as possible. If a request or a
 * connection is refused, the client retries a little later.
 */
export class Load {
  readonly report: LoadReport = { statuses: {}, booked: [], errors: [], cut: [], refused: 0 };
  readonly #options: ClientLoadOptions;
  readonly #name = randomUUID();
  readonly #ended: Promise<unknown>;
  #isOver = false;

  constructor(options: ClientLoadOptions) {
    this.#options = options;
    this.#ended = Promise.all(Array.from({ length: options.clients }, (_, n) => this.#runClient(n)));
  }

  /** Number of responses so far. */
  get answers(): number {
    return Object.values(this.report.statuses).reduce((sum, count) => sum + count, 0);
  }

  async end(): Promise<LoadReport> {
    this.#isOver = true;
    await this.#ended;
    return this.report;
  }

  async #runClient(client: number): Promise<void> {
    const { address, token, line } = this.#options;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { report } = this;
    for (let n = 0; !this.#isOver; n++) {
      const comment = `load ${this.#name}, client ${client}, call ${n}`;
      const isBooking = n % 2 === 1;
      const body = isBooking
        ? { query: book, variables: { input: { lines: [line], comment } } }
        : { query: read };
      try {
        const answer = await send(agent, `${address}/api/graphql/unstable`, token, body);
        report.statuses[answer.status] = (report.statuses[answer.status] ?? 0) + 1;
        const { errors, data } = JSON.parse(answer.text) as { errors?: unknown; data?: any };
        if (errors) {
          report.errors.push(JSON.stringify(errors));
          await sleep(50); // As clients do before a retry
        } else if (isBooking && data.stockAdjust.userErrors.length === 0) report.booked.push(comment);
        // More at once would only show how fast the machine is
        await sleep(80);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code === "ECONNREFUSED") report.refused++;
        else report.cut.push(`${code} ${message}`);
        await sleep(50); // As clients do before a retry
      }
    }
    agent.destroy();
  }
}
