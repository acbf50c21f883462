import type { RequestUse } from "../auth/request-use.ts";
import { remembered } from "../lib/remembered.ts";

/** Operations with figures of their own: those that were stored for clients, and others. All beyond that are `other`. */
const most = { stored: 200, others: 100, othersOfOne: 20 };
/** Requests after which an operation that isn't stored gets figures of its own. */
const knownAfter = 50;
/** Operations that are counted until then. */
const maxCounted = 2_000;

/** How metrics name an operation. */
export interface OperationLabel {
  operation: string;
  /** Name in the document of its first client. */
  name: string;
  version: string;
}

const other = (version: string): OperationLabel => ({ operation: "other", name: "", version });

/**
 * Gives operations that matter labels of their own, however many there are: each label is kept by Prometheus for months, and
 * clients can make up any number of operations.
 */
export class OperationLabels {
  readonly #known = new Map<string, OperationLabel>();
  readonly #counts = new Map<string, number>();
  readonly #ofOne = new Map<string, number>();
  readonly #others = new Map<string, OperationLabel>();
  #stored = 0;

  /** @param isStored whether an operator has stored the operation, see `npx erp operations` */
  of({ of: { operation, credentialId } }: RequestUse, isStored: boolean): OperationLabel {
    const { id, version } = operation;
    const known = this.#known.get(id);
    if (known) return known;
    if (!(isStored ? this.#stored < most.stored : this.#hasEarned(id, credentialId)))
      return this.#other(version);
    if (isStored) this.#stored++;
    const label = { operation: id, name: operation.name ?? "", version };
    this.#known.set(id, label);
    return label;
  }

  /** Whether an operation is sent often, and there is room for it. */
  #hasEarned(id: string, credentialId: string): boolean {
    const own = this.#ofOne.get(credentialId) ?? 0;
    if (this.#known.size - this.#stored >= most.others || own >= most.othersOfOne) return false;
    const count = (this.#counts.get(id) ?? 0) + 1;
    if (count < knownAfter) {
      if (this.#counts.size >= maxCounted) this.#counts.clear();
      this.#counts.set(id, count);
      return false;
    }
    this.#counts.delete(id);
    this.#ofOne.set(credentialId, own + 1);
    return true;
  }

  #other(version: string): OperationLabel {
    return remembered(this.#others, version, other);
  }
}
