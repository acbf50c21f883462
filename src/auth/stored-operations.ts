import type { Pool } from "pg";
import { readAs } from "../postgres/as-role.ts";
import type { InvalidatedCache } from "./invalidated-cache.ts";

/** The operations that operators stored for clients. */
export type StoredOperations = ReturnType<typeof storedOperations>;

/** The number that auth.publish_operations allows. Together they have at most 16 MiB, so all of them may be cached. */
const maxDocuments = 5_000;

/** The API credentials that may send an operation: all, or a set of ids. */
type Senders = "all" | Set<string>;

/** Reads stored operations: their list after each change, a document when it is first sent. */
export function storedOperations(pool: Pool, cache: InvalidatedCache) {
  const lists = cache.remember(async () => {
    const rows = await readAs<{ key: string; credentialId: string | null }>(
      pool,
      "service_auth",
      `select version || ' ' || sha256 as key, credential_id as "credentialId" from auth.stored_operations()`,
    );
    const list = new Map<string, Senders>();
    for (const { key, credentialId } of rows) {
      const senders = list.get(key);
      if (credentialId === null || senders === "all") list.set(key, "all");
      else list.set(key, (senders ?? new Set()).add(credentialId));
    }
    return list;
  }, 1);
  const documents = cache.remember(async (sha256: string) => {
    const [row] = await readAs<{ document: string | null }>(
      pool,
      "service_auth",
      "select auth.stored_document($1) as document",
      [sha256],
    );
    return row!.document ?? undefined;
  }, maxDocuments);
  /** Whether an API credential may send the document with this SHA-256, in hexadecimal, to a version. */
  const has = async (version: string, sha256: string, credentialId: string): Promise<boolean> => {
    const senders = (await lists.of("all")).get(`${version} ${sha256}`);
    return senders === "all" || senders?.has(credentialId) === true;
  };
  return {
    has,
    /** Returns the document; undefined when the API credential may not send it. */
    find: async (version: string, sha256: string, credentialId: string) =>
      (await has(version, sha256, credentialId)) ? documents.of(sha256) : undefined,
  };
}
