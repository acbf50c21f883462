import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { UserError } from "../errors/user-error.ts";
import { pause } from "../lib/retry.ts";

/** A bulk operation, as the commands show it. */
export interface BulkOperation {
  state: string;
  rowCount: number | null;
  doneCount: number;
  createdCount: number;
  updatedCount: number;
  refusedCount: number;
  errorMessage: string | null;
  resultUrl: string | null;
  errorsUrl: string | null;
}

const selection =
  "state rowCount doneCount createdCount updatedCount refusedCount errorMessage resultUrl errorsUrl";
/** Milliseconds between two looks at a bulk operation, and before a token ends that a new one is made. */
const [lookEveryMs, renewBeforeMs] = [500, 60_000];

/** A client of the API, with the credentials of the environment. */
export class ApiClient {
  readonly #url: string;
  readonly #credentials: { client_id: string; client_secret: string };
  #token: { text: string; endsAt: number } | undefined;

  /** @throws {UserError} when the credentials aren't set */
  constructor({ API_URL, CLIENT_ID, CLIENT_SECRET } = process.env) {
    if (!CLIENT_ID || !CLIENT_SECRET)
      throw new UserError(
        "Set CLIENT_ID and CLIENT_SECRET, which `npx erp credential create --name Files --read all --write all` prints.",
      );
    this.#url = (API_URL || "http://127.0.0.1:4000").replace(/\/$/, "");
    this.#credentials = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET };
  }

  /** Sends a request. @throws {UserError} when the service can't be reached, or refuses it */
  async send(path: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(this.#url + path, init);
    } catch (cause) {
      throw new UserError(`The service at ${this.#url} can't be reached: ${describeReason(cause)}`, {
        cause,
      });
    }
    if (response.ok) return response;
    throw new UserError(`The service refused: ${parseMessage(await response.text()) ?? response.statusText}`);
  }

  /** The same with an access token. */
  async sendAuthorized(path: string, { headers, ...init }: RequestInit): Promise<Response> {
    const authorization = `Bearer ${await this.#freshToken()}`;
    return this.send(path, { ...init, headers: { ...headers, authorization } });
  }

  /** The data of a GraphQL operation. @throws {UserError} when it fails */
  async execute<Data>(query: string, variables: object): Promise<Data> {
    const response = await this.sendAuthorized("/api/graphql/unstable", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as { data: Data; errors?: { message: string }[] };
    if (errors?.[0]) throw new UserError(`The service refused: ${errors[0].message}`);
    return data;
  }

  /** Waits until a bulk operation has ended, and tells how far it is. */
  async follow(id: string, onProgress: (operation: BulkOperation) => void): Promise<BulkOperation> {
    for (;;) {
      const query = `query ($id: ID!) { bulkOperation(id: $id) { ${selection} } }`;
      const { bulkOperation } = await this.execute<{ bulkOperation: BulkOperation | null }>(query, { id });
      if (!bulkOperation) throw new UserError("The bulk operation is gone.");
      onProgress(bulkOperation);
      if (!["uploading", "queued", "running"].includes(bulkOperation.state)) return bulkOperation;
      await pause(lookEveryMs);
    }
  }

  /** Writes the file at an address that a bulk operation has named. */
  async save(address: string, path: string): Promise<void> {
    const { body } = await this.send(address, {});
    await pipeline(Readable.fromWeb(body as never), createWriteStream(path));
  }

  async #freshToken(): Promise<string> {
    if (this.#token && performance.now() < this.#token.endsAt - renewBeforeMs) return this.#token.text;
    const response = await this.send("/api/oauth/token", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ grant_type: "client_credentials", ...this.#credentials }),
    });
    const { access_token: text, expires_in: seconds } = (await response.json()) as {
      access_token: string;
      expires_in: number;
    };
    this.#token = { text, endsAt: performance.now() + seconds * 1_000 };
    return text;
  }
}

function describeReason(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message ? cause.message : message;
}

/** The message of an answer that refuses a request. */
function parseMessage(text: string): string | undefined {
  try {
    const { errors, error_description: description } = JSON.parse(text) as {
      errors?: { message?: string; detail?: string }[];
      error_description?: string;
    };
    return errors?.[0]?.message ?? errors?.[0]?.detail ?? description;
  } catch {
    return undefined;
  }
}
