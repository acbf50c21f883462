import type { IncomingMessage, ServerResponse } from "node:http";
import type { JSONValue } from "postgraphile/grafserv";
import { NodeGrafservBase } from "postgraphile/grafserv/node";

/** Answers requests by executing operations, or passes on what isn't for it. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** Grafserv for requests of Node whose body has been read, and checked, into `request.body`. */
export class GraphqlServer extends NodeGrafservBase {
  protected override getDigest(...args: Parameters<NodeGrafservBase["getDigest"]>) {
    const request: IncomingMessage & { body?: unknown } = args[1];
    const digest = super.getDigest(...args);
    return {
      ...digest,
      // An address may have the host before it
      path: new URL(digest.path, "http://here.invalid").pathname,
      getBody: () => ({ type: "json" as const, json: request.body as Record<string, JSONValue> }),
    };
  }

  /** Unlike `addTo`, it has nothing for web sockets, which there are none of. */
  get handler(): Handler {
    return this._createHandler();
  }
}
