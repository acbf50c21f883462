/** Milliseconds without others after which an owner counts as alone. */
const defaultAloneAfterMs = 1_000;

/** Tracks whether an owner, such as a token or a merchant, is the only one that sends requests. */
export class LatestOwner {
  readonly #aloneAfterMs: number;
  #owner = "";
  #lastAt = performance.now();
  /** Time of the last request of another owner. */
  #othersLastAt = -Infinity;

  constructor(aloneAfterMs = defaultAloneAfterMs) {
    this.#aloneAfterMs = aloneAfterMs;
  }

  /** Notes a request of an owner. */
  note(owner: string, now = performance.now()): void {
    if (owner !== this.#owner) {
      this.#othersLastAt = this.#lastAt;
      this.#owner = owner;
    }
    this.#lastAt = now;
  }

  /** Time of the last request. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** Whether no other owner has sent a request for a while. @param owner by default the latest one */
  isAlone(owner = this.#owner, now = performance.now()): boolean {
    return now - (owner === this.#owner ? this.#othersLastAt : this.#lastAt) > this.#aloneAfterMs;
  }
}
