import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** The body of a webhook. docs/events has a JSON Schema for each type. */
export interface Message {
  /** The topic, for example product.updated. */
  type: string;
  /** Time of the event. */
  timestamp: string;
  /** Its number; null for a test. */
  sequence: number | null;
  /** The number of the previous message; null for the first one. */
  previousSequence: number | null;
  apiVersion: string;
  changedFields: string[] | null;
  cause: Record<string, unknown>;
  /** The subject. */
  data: Record<string, unknown>;
}

interface Entry {
  id: string;
  message: Message;
}

/**
 * Stores received messages, to recognise repetitions and see gaps. This example uses a file. Better use a table with a
 * unique column for the id, and write to it in the same transaction as the effects of the message.
 */
export class Inbox {
  readonly #path: string;
  readonly #ids = new Set<string>();
  readonly #sequences = new Set<number>();
  /** Numbers that messages named as their previous one. */
  readonly #expected = new Set<number>();

  /** @param path file to which messages are appended, one a line */
  constructor(path: string) {
    this.#path = path;
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    for (const line of lines) this.#note(JSON.parse(line) as Entry);
  }

  /** Stores a message. Returns whether it is new: the same one may come several times. */
  add(id: string, message: Message): boolean {
    if (this.#ids.has(id)) return false;
    // On disk before the sender is told that it has arrived
    appendFileSync(this.#path, `${JSON.stringify({ id, message })}\n`, { flush: true });
    this.#note({ id, message });
    return true;
  }

  /**
   * Numbers of missing messages before received ones. Messages about different things are sent in parallel, and failed
   * ones hours later, so be alarmed only by a number that is missing for long.
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
