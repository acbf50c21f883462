import type { IncomingMessage, ServerResponse } from "node:http";
import type { JSONValue } from "postgraphile/grafserv";
import { NodeGrafservBase } from "postgraphile/grafserv/node";

/** Answers requests by executing operations, or passes other requests on. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** An answer that has been made and not yet sent. */
export interface WholeAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
}

/**
 * Grafserv for Node's requests whose body has been read, and checked, into `request.body`. Inside of grafserv 1.0.2:
 * docs/internals/upstream.md.
 */
export class GraphqlServer extends NodeGrafservBase {
  protected override getDigest(...args: Parameters<NodeGrafservBase["getDigest"]>) {
    const request: IncomingMessage & { body?: unknown } = args[1];
    const digest = super.getDigest(...args);
    // Parameters of the address have been read like a body
    const isRead = request.body !== undefined && digest.method === "GET";
    const asPost = {
      method: "POST",
      headers: { ...digest.headers, "content-type": "application/json" },
    } as const;
    return {
      ...digest,
      ...(isRead && asPost),
      // The URL may include the host
      path: new URL(digest.path, "http://here.invalid").pathname,
      getBody: () => ({ type: "json" as const, json: request.body as Record<string, JSONValue> }),
    };
  }

  /** Executes the operation of a request. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<WholeAnswer> {
    const digest = this.getDigest(this.dynamicOptions, request, response, false);
    // The address has been understood before, also where parts of it are escaped
    const { graphqlPath: path } = this.dynamicOptions;
    const result = await this.processRequest({ ...digest, path });
    if (result?.type === "error") throw result.error;
    if (result?.type !== "buffer") throw new Error(`Grafserv answers in another way: ${result?.type}`);
    return { status: result.statusCode, headers: result.headers, body: result.buffer };
  }

  /** Serves the explorer. Unlike `addTo`, it has nothing for web sockets, which we don't use. */
  get handler(): Handler {
    return this._createHandler();
  }
}
