import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { apiError } from "../../errors/api-error.ts";
import { completed } from "../../errors/client-errors.ts";
import { refuse, sendErrors } from "../answers.ts";
import type { Middleware } from "../pipeline.ts";
import { graphqlBodyOf } from "./read-graphql-body.ts";

/** Bytes of the documents that are kept for all clients together. */
const maxKeptBytes = 8_000_000;

/**
 * Automatic persisted queries, in the protocol of Apollo: a client sends the SHA-256 of a document alone; when that is
 * unknown here, it sends both once. Each process keeps what was used last, for each credential its own.
 */
export function persistedQueries(): Middleware {
  const kept = new LRUCache<string, string>({
    maxSize: maxKeptBytes,
    sizeCalculation: (text, key) => 2 * text.length + key.length + 100,
  });
  return (request, response, next) => {
    const body = graphqlBodyOf(request);
    const { sha256 } = body;
    if (sha256 === undefined) return next();
    const { caller, requestId } = response.locals;
    const key = `${caller!.credentialId} ${sha256}`;
    if (body.query === "") {
      const text = kept.get(key);
      if (text === undefined) {
        // Clients look for this message or this code, and for nothing in an answer that isn't 200
        const error = apiError("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound");
        return sendErrors(request, response, 200, [completed(error, requestId)]);
      }
      body.query = text;
    } else if (createHash("sha256").update(body.query).digest("hex") !== sha256) {
      const message = "“extensions.persistedQuery.sha256Hash” is not the SHA-256 of “query”.";
      return refuse(request, response, 400, "BAD_USER_INPUT", message);
    } else kept.set(key, body.query);
    next();
  };
}
