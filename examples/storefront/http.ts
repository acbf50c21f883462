import { createHmac, timingSafeEqual } from "node:crypto";

const timeLimitMs = 10_000;

/** An answer that is no success. */
export class HttpFailure extends Error {
  readonly status: number;
  constructor(method: string, url: string, status: number, text: string) {
    super(`${method} ${new URL(url).pathname}: ${status} ${text.slice(0, 300)}`);
    this.status = status;
  }
}

/** Sends JSON and reads JSON. Anything but success is an error. */
export async function sendJson<T>(
  method: "POST" | "PATCH",
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeLimitMs),
  });
  const text = await response.text();
  if (!response.ok) throw new HttpFailure(method, url, response.status, text);
  return (text === "" ? null : JSON.parse(text)) as T;
}

/** Keeps an access token by client credentials, and gets another before it ends, or when it is refused. */
export class AccessToken {
  readonly #url: string;
  readonly #credentials: object;
  #token: { value: string; endsAt: number } | null = null;

  constructor(url: string, clientId: string, clientSecret: string) {
    this.#url = url;
    this.#credentials = {
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
    };
  }

  /** Sends a request with the token. */
  async use<T>(send: (headers: { authorization: string }) => Promise<T>): Promise<T> {
    try {
      return await send({ authorization: `Bearer ${await this.#get()}` });
    } catch (error) {
      if (error instanceof HttpFailure && error.status === 401) this.#token = null;
      throw error;
    }
  }

  async #get(): Promise<string> {
    if (this.#token === null || this.#token.endsAt < Date.now()) {
      const answer = await sendJson<{ access_token: string; expires_in: number }>(
        "POST",
        this.#url,
        this.#credentials,
      );
      this.#token = { value: answer.access_token, endsAt: Date.now() + (answer.expires_in - 30) * 1_000 };
    }
    return this.#token.value;
  }
}

/** Whether the raw body has this signature. The comparison takes as long wherever the two differ. */
export function isSigned(
  body: Buffer,
  secret: string,
  encoding: "base64" | "hex",
  signature: unknown,
): boolean {
  if (typeof signature !== "string") return false;
  const expected = createHmac("sha256", secret).update(body).digest();
  const given = Buffer.from(signature, encoding);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
