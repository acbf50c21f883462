import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** What a webhook says. docs/events has a JSON Schema for each type. */
export interface Message {
  /** What happened, for example product.updated. */
  type: string;
  /** When. */
  timestamp: string;
  /** Its number; null for a test. */
  sequence: number | null;
  /** The number of the message before it; null for the first one. */
  previousSequence: number | null;
  apiVersion: string;
  changedFields: string[] | null;
  cause: Record<string, unknown>;
  /** What it happened to. */
  data: Record<string, unknown>;
}

interface Entry {
  id: string;
  message: Message;
}

/**
 * Keeps what has been received, so that repetitions are known and gaps are seen. In a file here; a table with a unique
 * column for the id, written in the same transaction as what follows from the message, is better.
 */
export class Inbox {
  readonly #path: string;
  readonly #ids = new Set<string>();
  readonly #sequences = new Set<number>();
  /** Numbers that others named as the one before them. */
  readonly #expected = new Set<number>();

  /** @param path file to which messages are appended, one a line */
  constructor(path: string) {
    this.#path = path;
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    for (const line of lines) this.#note(JSON.parse(line) as Entry);
  }

  /** Keeps a message. Answers whether it is new: the same one may come several times. */
  add(id: string, message: Message): boolean {
    if (this.#ids.has(id)) return false;
    // On disk before the sender is told that it has arrived
    appendFileSync(this.#path, `${JSON.stringify({ id, message })}\n`, { flush: true });
    this.#note({ id, message });
    return true;
  }

  /**
   * Numbers of messages that have not come, though later ones have. What is about different things comes side by side,
   * and what fails is sent again hours later, so a number is no cause for alarm before it has been missing for long.
   */
  missing(): number[] {
    const first = Math.min(...this.#sequences);
    return [...this.#expected]
      .filter((sequence) => sequence > first && !this.#sequences.has(sequence))
      .sort((a, b) => a - b);
  }

  #note({ id, message: { sequence, previousSequence } }: Entry): void {
    this.#ids.add(id);
    if (sequence === null) return;
    this.#sequences.add(sequence);
    if (previousSequence !== null) this.#expected.add(previousSequence);
  }
}
