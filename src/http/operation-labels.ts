import type { RequestUse } from "../auth/request-use.ts";
import { getOrMake } from "../lib/remembered.ts";

/** The maximum number of operations with labels of their own: stored ones, others, and others of one client. */
const maxLabels = { stored: 200, others: 100, othersOfOne: 20 };
/** Requests after which an operation that isn't stored gets a label. */
const knownAfter = 50;
/** The maximum number of operations whose requests are counted for that. */
const maxCounted = 2_000;

/** The labels of an operation in metrics. */
export interface OperationLabel {
  operation: string;
  /** The operation's name in the first client's document. */
  name: string;
  version: string;
}

const other = (version: string): OperationLabel => ({ operation: "other", name: "", version });

/**
 * Gives important operations labels of their own, and all others the label `other`. The number is limited, because
 * Prometheus keeps each label for months and clients can invent any number of operations.
 */
export class OperationLabels {
  readonly #known = new Map<string, OperationLabel>();
  readonly #counts = new Map<string, number>();
  readonly #countByCredential = new Map<string, number>();
  readonly #others = new Map<string, OperationLabel>();
  #stored = 0;

  /** Returns the labels of an operation. @param isStored whether an operator has stored it (`npx erp operations`) */
  of({ operationUse: { operation, credentialId } }: RequestUse, isStored: boolean): OperationLabel {
    const { id, version } = operation;
    const known = this.#known.get(id);
    if (known) return known;
    if (!(isStored ? this.#stored < maxLabels.stored : this.#deservesLabel(id, credentialId)))
      return this.#other(version);
    if (isStored) this.#stored++;
    const label = { operation: id, name: operation.name ?? "", version };
    this.#known.set(id, label);
    return label;
  }

  /** Whether an operation is sent often, and the limits allow another label. */
  #deservesLabel(id: string, credentialId: string): boolean {
    const own = this.#countByCredential.get(credentialId) ?? 0;
    if (this.#known.size - this.#stored >= maxLabels.others || own >= maxLabels.othersOfOne) return false;
    const count = (this.#counts.get(id) ?? 0) + 1;
    if (count < knownAfter) {
      if (this.#counts.size >= maxCounted) this.#counts.clear();
      this.#counts.set(id, count);
      return false;
    }
    this.#counts.delete(id);
    this.#countByCredential.set(credentialId, own + 1);
    return true;
  }

  #other(version: string): OperationLabel {
    return getOrMake(this.#others, version, other);
  }
}
