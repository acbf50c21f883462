import { setTimeout as sleep } from "node:timers/promises";
import type { ClientCredentials } from "../../src/auth/credentials.ts";

/** Where the service is now, as a load balancer knows it. */
export interface Place {
  address: string;
  /** The day there. */
  day: string;
}

/** An answer that a client could not use. */
export interface Trouble {
  version: string;
  day: string;
  what: string;
}

/** What a client does again and again: operations, and what is wrong with their answers, if anything. */
export type Round = (ask: (query: string, variables?: object) => Promise<any>, n: number) => Promise<void>;

/** A program of somebody, written for one version and never changed. */
export class Client {
  readonly version: string;
  readonly troubles: Trouble[] = [];
  /** Rounds that it has done. */
  rounds = 0;
  /** The end of the version, as answers have announced it. */
  sunset: string | null = null;
  readonly #ended: Promise<void>;
  #isOver = false;

  constructor(version: string, place: () => Place, credentials: ClientCredentials, round: Round) {
    this.version = version;
    this.#ended = this.#work(place, credentials, round);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  async #work(place: () => Place, credentials: ClientCredentials, round: Round): Promise<void> {
    let [knownAt, token] = ["", ""];
    while (!this.#isOver) {
      const { address, day } = place();
      try {
        // A token is good for the days of one process only, because their clocks are months apart
        if (knownAt !== address) [knownAt, token] = [address, await tokenFrom(address, credentials)];
        await round((query, variables) => this.#ask(address, token, query, variables), this.rounds);
        this.rounds++;
      } catch (error) {
        this.troubles.push({ version: this.version, day, what: String((error as Error).cause ?? error) });
      }
      await sleep(60); // As clients do
    }
  }

  async #ask(address: string, token: string, query: string, variables: object = {}): Promise<any> {
    const response = await fetch(`${address}/api/graphql/${this.version}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
    });
    this.sunset = response.headers.get("sunset") ?? this.sunset;
    const text = await response.text();
    const { data, errors } = JSON.parse(text) as { data?: any; errors?: unknown };
    if (response.status !== 200 || errors !== undefined) throw new Error(`${response.status} ${text}`);
    return data;
  }
}

async function tokenFrom(address: string, { clientId, clientSecret }: ClientCredentials): Promise<string> {
  const response = await fetch(`${address}/api/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
    }),
  });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}
