import { LRUCache } from "lru-cache";
import type { DocumentNode } from "postgraphile/graphql";

/** Bytes that the documents of all versions may take together, by estimate. */
const maxKeptBytes = 48_000_000;
/** Documents of which it is remembered that they came before. */
const maxSeenDocuments = 20_000;
/** What a node of a document's tree takes, with its place in the text (measured: 246 bytes). */
const bytesPerNode = 300;

/** A valid document. */
export interface ReadDocument {
  document: DocumentNode;
  /** Nodes of its tree. */
  nodes: number;
}

/**
 * Keeps the documents that come again and again, of all versions together, by what they hold in memory. A tree is a
 * hundred times as large as its text, so a document is kept when it comes for the second time, and one that was
 * refused never.
 */
export class DocumentCache {
  readonly #kept = new LRUCache<string, ReadDocument>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ nodes }, key) => nodes * bytesPerNode + key.length * 2 + 500,
  });
  readonly #seen = new LRUCache<string, true>({ max: maxSeenDocuments });

  /** @param key text of the document, and what it was read for */
  get(key: string): ReadDocument | undefined {
    return this.#kept.get(key);
  }

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  /** Keeps a document, if it has come before. */
  offer(key: string, digest: string, read: ReadDocument): void {
    if (this.#seen.has(digest)) this.#kept.set(key, read);
    else this.#seen.set(digest, true);
  }

  /** What is held now, in bytes by estimate. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }
}
