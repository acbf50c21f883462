import { createHash } from "node:crypto";
import { AccessToken, sendJson } from "./http.ts";

export interface ServiceOptions {
  /** Address of the service. */
  url: string;
  clientId: string;
  clientSecret: string;
}

interface UserError {
  code: string;
  message: string;
  field: string[] | null;
}

/** A mutation that was refused. */
export class Refusal extends Error {
  readonly #errors: UserError[];
  constructor(mutation: string, errors: UserError[]) {
    super(
      `${mutation}: ${errors.map(({ code, message, field }) => `${code} ${field?.join(".") ?? ""}: ${message}`).join("; ")}`,
    );
    this.#errors = errors;
  }

  /** Whether it was for this reason alone. */
  isAbout(code: string, field: string): boolean {
    return this.#errors.every((error) => error.code === code && error.field?.at(-1) === field);
  }
}

/** Calls the API. */
export class Service {
  readonly #url: string;
  readonly #token: AccessToken;

  constructor({ url, clientId, clientSecret }: ServiceOptions) {
    this.#url = url;
    this.#token = new AccessToken(`${url}/api/oauth/token`, clientId, clientSecret);
  }

  async ask<T>(query: string, variables: object = {}): Promise<T> {
    const { data, errors } = await this.#token.use((headers) =>
      sendJson<{ data?: T; errors?: { message: string }[] }>(
        "POST",
        `${this.#url}/api/graphql/unstable`,
        { query, variables },
        headers,
      ),
    );
    if (errors || !data) throw new Error(errors?.map(({ message }) => message).join("; ") ?? "No answer");
    return data;
  }

  /**
   * Sends a mutation, of which a repetition does nothing more. The key is of the message and the input: what the shop
   * says now may be more than it said when the message was worked on first.
   */
  async mutate<T>(name: string, input: object, fields: string, message: string): Promise<T> {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
    const digest = createHash("sha256").update(JSON.stringify(input)).digest("hex").slice(0, 16);
    const data = await this.ask<Record<string, T & { userErrors: UserError[] }>>(
      `mutation ($input: ${type}) { ${name}(input: $input) { ${fields} userErrors { code message field } } }`,
      { input: { ...input, idempotencyKey: `${message}/${digest}` } },
    );
    const payload = data[name]!;
    if (payload.userErrors.length > 0) throw new Refusal(name, payload.userErrors);
    return payload;
  }
}
