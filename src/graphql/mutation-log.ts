/**
 * What the mutations of one operation have come to: for whoever reports its errors, as some that come after a commit
 * must not look as if nothing had been done.
 */
export class MutationLog {
  readonly #unreadable = new WeakSet<object>();
  #isAnyDone = false;
  #isRepeatable = true;

  /** Whether at least one has been done and committed. */
  get isAnyDone(): boolean {
    return this.#isAnyDone;
  }

  /** Whether the whole operation can be sent again without anything being done twice: all that were done had a key. */
  get isRepeatable(): boolean {
    return this.#isRepeatable;
  }

  /** Notes that one has been committed. */
  noteDone(idempotencyKey: string | null): void {
    this.#isAnyDone = true;
    if (idempotencyKey === null) this.#isRepeatable = false;
  }

  /** Notes of an error of a mutation's own field that it came after the commit. */
  markUnreadable(error: unknown): unknown {
    if (error instanceof Error) this.#unreadable.add(error);
    return error;
  }

  isUnreadable(error: unknown): boolean {
    return error instanceof Error && this.#unreadable.has(error);
  }
}
