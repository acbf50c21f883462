import type { ClientCredentials } from "../../src/auth/credentials.ts";
import type { Books } from "./books.ts";
import type { Random } from "../lib/random.ts";
import type { Service } from "./service.ts";

/**
 * Milliseconds after which there should have been an answer, whatever is killed: the service waits for each statement for 20 s,
 * and some requests have three.
 */
const answerMs = 70_000;
/** Milliseconds after which an answer is counted as slow. */
const slowMs = 20_000;
/** Milliseconds after which a token is renewed. It is good for ten minutes. */
const tokenMs = 8 * 60_000;

/** Errors of GraphQL that may come while something is away: docs/reference/errors.md says of each what to do. */
const passing = new Set(["SERVICE_UNAVAILABLE", "PAYLOAD_UNAVAILABLE", "QUERY_TIMEOUT", "CONFLICT_RETRY"]);

/** An answer. */
export interface Answer {
  /** Null when there were errors. */
  data: any;
  /** Whether the very same request may be sent again. */
  retryable: boolean;
  /** Whether the mutation was done, though its payload couldn't be read. */
  wasDone: boolean;
}

export interface RequestsOptions {
  services: readonly Service[];
  home: Service | null;
  credentials: ClientCredentials;
  random: Random;
  books: Books;
}

/** Sends the requests of a client, and notes every answer that isn't as documented. */
export class Requests {
  readonly #name: string;
  readonly #options: RequestsOptions;
  #token: { text: string; sinceMs: number } | null = null;
  /** The position behind all that the client has written. */
  #position: string | null = null;
  /** About the latest answer, for whoever looks for a fault. */
  latest: object = {};

  constructor(name: string, options: RequestsOptions) {
    this.#name = name;
    this.#options = options;
  }

  /** Sends a request once. @returns null when there was no answer that tells anything */
  async send(
    query: string,
    variables: object,
    { isRepeatable }: { isRepeatable: boolean },
  ): Promise<Answer | null> {
    const { services, home, random, books } = this.#options;
    const service = home ?? random.oneOf(services);
    const sinceMs = performance.now();
    try {
      const token = await this.#tokenFrom(service);
      if (token === null) return { data: null, retryable: true, wasDone: false };
      const response = await fetch(`${service.url}/api/graphql/unstable`, {
        method: "POST",
        headers: {
          ...{ "content-type": "application/json", authorization: `Bearer ${token.text}` },
          ...(home === null && this.#position !== null && { "x-consistent-with": this.#position }),
        },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.timeout(answerMs),
      });
      const answer = this.#understood(response, await response.text(), service, isRepeatable);
      if (performance.now() - sinceMs > slowMs) books.countCode("slower than 20 s");
      return answer;
    } catch (error) {
      this.#noteSilence(error, service, sinceMs);
      return null;
    }
  }

  /** There was no answer, which is right only if the service was killed meanwhile. */
  #noteSilence(error: unknown, service: Service, sinceMs: number): void {
    const { books } = this.#options;
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    const code = cause?.code ?? (error as Error).name;
    books.countCode(code);
    if (!service.mayHaveCut(sinceMs))
      books.violation(`${this.#name} got no answer of ${service.name}: ${code} ${(cause ?? error) as Error}`);
  }

  #understood(response: Response, text: string, service: Service, isRepeatable: boolean): Answer | null {
    const { books } = this.#options;
    const about = `${this.#name}, ${service.name}: ${response.status} ${text.slice(0, 1_000)}`;
    let body: { data?: any; errors?: any[] };
    try {
      body = JSON.parse(text) as typeof body;
    } catch {
      books.violation(`no JSON: ${about}`);
      return null;
    }
    const { headers } = response;
    this.#position = headers.get("x-consistent-with") ?? this.#position;
    this.latest = {
      ...{ service: service.name, request: headers.get("x-request-id"), readBy: headers.get("x-read-by") },
      position: this.#position,
    };
    if (headers.get("x-read-by") === "sql") books.counts.readBySql++;
    const { data, errors } = body;
    if (errors === undefined) {
      if (response.status === 200 && data) return { data, retryable: false, wasDone: true };
      books.violation(`neither data nor errors: ${about}`);
      return null;
    }
    return this.#failed(errors, response.status, about, isRepeatable);
  }

  #failed(errors: any[], status: number, about: string, isRepeatable: boolean): Answer | null {
    const { books } = this.#options;
    const [{ extensions = {}, path }] = errors as [any];
    const code = extensions.code ?? errors[0].code;
    books.countCode(code);
    const { retryable } = extensions;
    if (status === 401 && this.#token && performance.now() - this.#token.sinceMs > tokenMs) {
      this.#token = null;
      return { data: null, retryable: true, wasDone: false };
    }
    if (!passing.has(code) || typeof extensions.requestId !== "string") books.violation(about);
    // With a key, or to read, a call may always be sent again
    else if (isRepeatable && retryable !== true && code !== "PAYLOAD_UNAVAILABLE")
      books.violation(`it says that it can't be repeated: ${about}`);
    return { data: null, retryable: retryable === true, wasDone: path?.length > 1 };
  }

  /** @returns null when there is none now */
  async #tokenFrom(service: Service): Promise<{ text: string } | null> {
    if (this.#token && performance.now() - this.#token.sinceMs < tokenMs) return this.#token;
    const { books, credentials } = this.#options;
    const response = await fetch(`${service.url}/api/oauth/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        grant_type: "client_credentials",
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
      }),
      signal: AbortSignal.timeout(answerMs),
    });
    const text = await response.text();
    const { access_token: token, error } = JSON.parse(text) as { access_token?: string; error?: string };
    if (token !== undefined) {
      this.#token = { text: token, sinceMs: performance.now() };
      return this.#token;
    }
    books.countCode(`token endpoint: ${error}`);
    if (response.status !== 503 || error !== "temporarily_unavailable")
      books.violation(`${this.#name}, token endpoint of ${service.name}: ${response.status} ${text}`);
    return null;
  }
}
