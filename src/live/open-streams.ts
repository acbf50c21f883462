/** Streams at a time: of one credential, and of a process. Each is a connection, and waits most of its time. */
export const maxStreams = { ofOne: 20, ofAll: 1_000 };

/** Why no further stream is opened: its credential has too many, or the process. */
export type TooMany = keyof typeof maxStreams;

/** The open streams of a process. */
export class OpenStreams {
  readonly #limits: typeof maxStreams;
  readonly #ofCredential = new Map<string, number>();
  #count = 0;

  constructor(limits = maxStreams) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  /** Why this credential can't open another one; null when it can. */
  obstacle(credentialId: string): TooMany | null {
    if ((this.#ofCredential.get(credentialId) ?? 0) >= this.#limits.ofOne) return "ofOne";
    return this.#count >= this.#limits.ofAll ? "ofAll" : null;
  }

  /** Counts a stream until it ends. */
  add(credentialId: string, ended: AbortSignal): void {
    if (ended.aborted) return;
    this.#change(credentialId, 1);
    ended.addEventListener("abort", () => this.#change(credentialId, -1), { once: true });
  }

  #change(credentialId: string, by: number): void {
    this.#count += by;
    const count = (this.#ofCredential.get(credentialId) ?? 0) + by;
    if (count > 0) this.#ofCredential.set(credentialId, count);
    else this.#ofCredential.delete(credentialId);
  }
}
