import { LRUCache } from "lru-cache";
import type { DocumentNode } from "postgraphile/graphql";

/** Estimated bytes that the documents of all versions may take together. */
const maxKeptBytes = 48_000_000;
/** Maximum number of documents that are remembered as sent before. */
const maxSeenDocuments = 20_000;
/** Bytes of a node of a document's tree, with its location (measured: 246). */
const bytesPerNode = 300;

/** A valid document. */
interface ValidDocument {
  document: DocumentNode;
  /** Nodes of its tree. */
  nodes: number;
}

/**
 * Keeps documents that are sent repeatedly, of all versions together, within a limit of memory. A tree is a hundred
 * times as large as its text, so a document is kept from its second use on, and never if it was refused.
 */
export class DocumentCache {
  readonly #kept = new LRUCache<string, ValidDocument>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ nodes }, key) => nodes * bytesPerNode + key.length * 2 + 500,
  });
  readonly #seen = new LRUCache<string, true>({ max: maxSeenDocuments });

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  get(key: string): ValidDocument | undefined {
    return this.#kept.get(key);
  }

  /** Keeps a document, if one with this digest was sent before. */
  offer(key: string, digest: string, read: ValidDocument): void {
    if (this.#seen.has(digest)) this.#kept.set(key, read);
    else this.#seen.set(digest, true);
  }

  /** Estimated bytes in use. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }
}
