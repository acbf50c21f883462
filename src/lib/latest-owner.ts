/** Milliseconds without others after which an owner counts as alone. */
const defaultAloneAfterMs = 1_000;

/** Keeps track of whether an owner, such as a credential or a merchant, is the only one with requests. */
export class LatestOwner {
  readonly #aloneAfterMs: number;
  #owner = "";
  #at = performance.now();
  /** When another one asked last. */
  #othersAt = -Infinity;

  constructor(aloneAfterMs = defaultAloneAfterMs) {
    this.#aloneAfterMs = aloneAfterMs;
  }

  /** Notes that an owner asks. */
  note(owner: string, now = performance.now()): void {
    if (owner !== this.#owner) {
      this.#othersAt = this.#at;
      this.#owner = owner;
    }
    this.#at = now;
  }

  /** When the latest owner asked last. */
  get at(): number {
    return this.#at;
  }

  /** Whether no other owner has sent requests for a while. @param owner by default the latest one */
  isAlone(owner = this.#owner, now = performance.now()): boolean {
    return now - (owner === this.#owner ? this.#othersAt : this.#at) > this.#aloneAfterMs;
  }
}
