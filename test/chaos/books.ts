/** What became of a booking, as its client knows it. */
export interface Booking {
  comment: string;
  /** Movements that it makes. */
  lines: number;
  /**
   * Answered: it was done. Not done: an answer said that it may be repeated, though it had no key. Unknown: there was no
   * answer, or one that said so.
   */
  outcome: "answered" | "not done" | "unknown";
}

/** What all clients have done and seen. */
export class Books {
  readonly bookings = new Map<string, Booking>();
  readonly counts = { booked: 0, renamed: 0, repeated: 0, read: 0, readBySql: 0, sentAgain: 0 };
  /** Answers that weren't data, by their code. */
  readonly codes = new Map<string, number>();
  readonly violations: string[] = [];
  readonly #begunAtMs = performance.now();
  readonly #onViolation: (text: string) => void;

  constructor(onViolation: (text: string) => void) {
    this.#onViolation = onViolation;
  }

  /** Notes something that must never be. */
  violation(text: string): void {
    const seconds = ((performance.now() - this.#begunAtMs) / 1_000).toFixed(2);
    this.violations.push(`${seconds} s: ${text}`);
    this.#onViolation(text);
  }

  countCode(code: string): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }

  /** The codes with their numbers, in a line. */
  codesText(): string {
    return [...this.codes].map(([code, count]) => `${code} ${count}`).join(", ") || "none";
  }
}
