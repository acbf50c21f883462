import { LRUCache } from "lru-cache";
import type { DocumentNode } from "postgraphile/graphql";

/** Estimated bytes that the documents of all versions may take together. */
const maxKeptBytes = 48_000_000;
/** Documents that are known to have been sent before. */
const maxSeenDocuments = 20_000;
/** Bytes of a node of a document's tree, with its location (measured: 246). */
const bytesPerNode = 300;

/** A valid document. */
export interface ValidDocument {
  document: DocumentNode;
  /** Nodes of its tree. */
  nodes: number;
}

/** A kept document, and where: by its text, in a map for the schema that it was read for. */
export interface KeptDocument extends ValidDocument {
  id: number;
  text: string;
  owner: Map<string, KeptDocument>;
}

/**
 * Keeps documents that are sent repeatedly, of all versions together, within a limit of memory. A tree is a hundred
 * times as large as its text, so a document is kept from its second use on, and never if it was refused.
 */
export class DocumentCache {
  readonly #kept = new LRUCache<number, KeptDocument>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ nodes, text }) => nodes * bytesPerNode + text.length * 2 + 500,
    dispose: ({ owner, text }) => owner.delete(text),
  });
  readonly #seen = new LRUCache<string, true>({ max: maxSeenDocuments });
  #count = 0;

  /** Notes the use of a kept document. */
  touch({ id }: KeptDocument): void {
    this.#kept.get(id);
  }

  /** Keeps a document in the map of its owner, if it was sent before. */
  offer(owner: Map<string, KeptDocument>, digest: string, text: string, read: ValidDocument): void {
    if (!this.#seen.has(digest)) return void this.#seen.set(digest, true);
    const kept = { ...read, id: this.#count++, text, owner };
    owner.set(text, kept);
    this.#kept.set(kept.id, kept);
  }

  /** Estimated bytes in use. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }
}
