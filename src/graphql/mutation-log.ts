/** Outcomes of an operation's mutations. Errors that come after a commit must not look as if nothing had been done. */
export class MutationLog {
  readonly #unreadable = new WeakSet<object>();
  #isAnyDone = false;
  #isRepeatable = true;

  /** Whether at least one mutation has been committed. */
  get isAnyDone(): boolean {
    return this.#isAnyDone;
  }

  /** Whether the whole operation can be repeated without effect: all committed mutations had an idempotency key. */
  get isRepeatable(): boolean {
    return this.#isRepeatable;
  }

  /** Notes a commit. */
  noteDone(idempotencyKey: string | null): void {
    this.#isAnyDone = true;
    if (idempotencyKey === null) this.#isRepeatable = false;
  }

  /** Marks the error of a mutation's own field as one after the commit. */
  markUnreadable(error: unknown): unknown {
    if (error instanceof Error) this.#unreadable.add(error);
    return error;
  }

  isUnreadable(error: unknown): boolean {
    return error instanceof Error && this.#unreadable.has(error);
  }
}
