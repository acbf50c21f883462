import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { StoredOperations } from "../../../auth/stored-operations.ts";
import { apiError } from "../../../errors/api-error.ts";
import { completeError } from "../../../errors/client-errors.ts";
import { refuse, sendErrors, refusalStatus } from "../../answers.ts";
import type { Middleware, Next, Request, Response } from "../../pipeline.ts";

type Needed = "body" | "caller" | "served";

/** The maximum number of bytes of documents that are cached, of all clients together. */
const maxKeptBytes = 8_000_000;

/**
 * Finds documents whose hash the client sends instead of the text: stored operations, and automatic persisted queries in
 * Apollo's protocol. If this process doesn't know a hash, the client sends hash and text once. Each process caches recent
 * documents, separately for each API credential. Credentials that may send stored operations only are refused all others.
 */
export function persistedQueries(stored: StoredOperations): Middleware<Needed, "isStored"> {
  const cache = new LRUCache<string, string>({
    maxSize: maxKeptBytes,
    sizeCalculation: (text, key) => 2 * text.length + key.length + 100,
  });
  const find = async (request: Request, response: Response<Needed>, next: Next<"isStored">) => {
    const { body, caller, requestId, served } = response.locals;
    const { credentialId, storedOperationsOnly: isRestricted } = caller;
    const { slug } = served.version;
    const sha256 = body.sha256 ?? hashDocument(body.query);
    const key = `${credentialId} ${sha256}`;
    let isStored = false;
    if (body.query === "") {
      const known = isRestricted ? undefined : cache.get(key);
      const text = known ?? (await stored.find(slug, sha256, credentialId));
      if (text === undefined) {
        // Clients look for this message or this code, and only in a response with status 200
        const error = apiError("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound");
        return sendErrors(request, response, 200, [completeError(error, requestId)]);
      }
      body.query = text;
      isStored = known === undefined;
    } else if (body.sha256 !== undefined && hashDocument(body.query) !== sha256) {
      const message = "“extensions.persistedQuery.sha256Hash” is not the SHA-256 of “query”.";
      return refuse(request, response, 400, "BAD_USER_INPUT", message);
    } else if (!isRestricted) cache.set(key, body.query);
    else if (!(await stored.has(slug, sha256, credentialId))) {
      const message =
        "This API credential may send stored operations only, and this operation is not stored for it.";
      return refuse(request, response, refusalStatus(request), "FORBIDDEN", message);
    } else isStored = true;
    next({ isStored });
  };
  return (request, response, next) => {
    const { body, caller } = response.locals;
    if (body.sha256 === undefined && !caller.storedOperationsOnly) next({ isStored: false });
    else return find(request, response, next);
  };
}

/** Returns the hash by which a document is named. */
export const hashDocument = (text: string): string => createHash("sha256").update(text).digest("hex");
