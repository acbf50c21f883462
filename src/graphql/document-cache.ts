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

/** A document that is kept, and where: by its text, in a map of the schema that it was read for. */
export interface KeptDocument extends ReadDocument {
  id: number;
  text: string;
  owner: Map<string, KeptDocument>;
}

/**
 * Keeps the documents that come again and again, of all versions together, by what they hold in memory. A tree is a
 * hundred times as large as its text, so a document is kept when it comes for the second time, and one that was
 * refused never.
 */
export class DocumentCache {
  readonly #kept = new LRUCache<number, KeptDocument>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ nodes, text }) => nodes * bytesPerNode + text.length * 2 + 500,
    dispose: ({ owner, text }) => owner.delete(text),
  });
  readonly #seen = new LRUCache<string, true>({ max: maxSeenDocuments });
  #count = 0;

  /** Notes that a kept document was used. */
  touch({ id }: KeptDocument): void {
    this.#kept.get(id);
  }

  /** Keeps a document in the map of its owner, if it has come before. */
  offer(owner: Map<string, KeptDocument>, digest: string, text: string, read: ReadDocument): void {
    if (!this.#seen.has(digest)) return void this.#seen.set(digest, true);
    const kept = { ...read, id: this.#count++, text, owner };
    owner.set(text, kept);
    this.#kept.set(kept.id, kept);
  }

  /** Forgets all documents of an owner. */
  clear(owner: Map<string, KeptDocument>): void {
    for (const { id } of [...owner.values()]) this.#kept.delete(id);
  }

  /** What is held now, in bytes by estimate. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }
}
