/** Streams at a time: of one credential, and of a process. Each is a connection, and waits most of its time. */
export const maxStreams = { ofOne: 20, ofAll: 1_000 };

/** Why no further stream is opened: its credential has too many, or the process. */
export type TooMany = keyof typeof maxStreams;

/** The streams of a process, from the moment at which they are requested. */
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

  /**
   * Takes a place for a stream of a credential.
   *
   * @returns gives the place back, to be called once; or why there is none
   */
  take(credentialId: string): TooMany | (() => void) {
    if ((this.#ofCredential.get(credentialId) ?? 0) >= this.#limits.ofOne) return "ofOne";
    if (this.#count >= this.#limits.ofAll) return "ofAll";
    this.#change(credentialId, 1);
    return () => this.#change(credentialId, -1);
  }

  #change(credentialId: string, by: number): void {
    this.#count += by;
    const count = (this.#ofCredential.get(credentialId) ?? 0) + by;
    if (count > 0) this.#ofCredential.set(credentialId, count);
    else this.#ofCredential.delete(credentialId);
  }
}
