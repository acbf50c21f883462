import type { StatementRun, StatementUse } from "../postgres/pipeline/transaction-settings.ts";
import type { NamedOperation } from "../graphql/signature.ts";
import { utcDay } from "../lib/utc-day.ts";
import { PendingRows } from "./waiting-rows.ts";
import type { TakenRows } from "./waiting-rows.ts";

/** The maximum number of operations that a process counts between two writes: of one API credential, and in total. */
const maxOperations = { ofOne: 300, ofAll: 3_000 };
/** The maximum number of entries that wait while the database can't be reached. */
const maxWaiting = 6_000;
/** The maximum number of stored characters of a document, and of a statement. */
const maxCharacters = { document: 8_000, statement: 20_000 };
/** Milliseconds after which an operation without requests is forgotten: longer than any request takes. */
const maxIdleMs = 60_000;

/** The use of an operation by an API credential. */
export class OperationUse implements StatementUse {
  readonly operation: NamedOperation;
  readonly credentialId: string;
  readonly applicationName: string;
  requests = 0;
  ms = 0;
  slowestMs = 0;
  statement: string | null = null;
  /** When it was last written to the database, in milliseconds since 1970. */
  writtenAt = 0;

  constructor(operation: NamedOperation, credentialId: string, applicationName: string) {
    this.operation = operation;
    this.credentialId = credentialId;
    this.applicationName = applicationName;
  }

  note({ text, ms, sharedBy = 1 }: StatementRun): void {
    const share = ms / sharedBy;
    this.ms += share;
    if (share <= this.slowestMs) return;
    this.slowestMs = share;
    this.statement = text;
  }
}

/** Counts how often each API credential sends each operation, and how long their statements take. */
export class OperationUses {
  /** By the application name of their statements. */
  readonly #uses = new Map<string, OperationUse>();
  readonly #ofCredential = new Map<string, number>();
  readonly #waiting = new PendingRows<OperationEntry>(
    "record_operations",
    maxWaiting,
    ({ id, credential_id, day }) => `${id} ${credential_id} ${day}`,
    (waiting, { requests, ms, slowest_ms, statement }) => {
      waiting.requests += requests;
      waiting.ms += ms;
      if (slowest_ms > waiting.slowest_ms) Object.assign(waiting, { slowest_ms, statement });
    },
  );

  /** Counts a request. */
  begin(operation: NamedOperation, credentialId: string): OperationUse {
    // Postgres truncates names after 63 characters
    const name = `service ${operation.id} ${credentialId}`;
    let use = this.#uses.get(name);
    if (!use) {
      use = new OperationUse(operation, credentialId, name);
      const own = this.#ofCredential.get(credentialId) ?? 0;
      if (this.#uses.size < maxOperations.ofAll && own < maxOperations.ofOne) {
        this.#uses.set(name, use);
        this.#ofCredential.set(credentialId, own + 1);
      }
    }
    use.requests++;
    return use;
  }

  /** Returns the entries to be written. */
  take(now = Date.now()): TakenRows<OperationEntry> {
    const day = utcDay(now);
    for (const [name, use] of this.#uses) {
      if (use.requests > 0 || use.ms > 0) {
        this.#waiting.add([toEntry(use, day)]);
        Object.assign(use, { requests: 0, ms: 0, slowestMs: 0, statement: null, writtenAt: now });
      } else if (now - use.writtenAt > maxIdleMs) {
        this.#uses.delete(name);
        this.#forgetOneOf(use.credentialId);
      }
    }
    return this.#waiting.take();
  }

  #forgetOneOf(credentialId: string): void {
    const left = this.#ofCredential.get(credentialId)! - 1;
    if (left > 0) this.#ofCredential.set(credentialId, left);
    else this.#ofCredential.delete(credentialId);
  }
}

type OperationEntry = ReturnType<typeof toEntry>;

/** Returns the database row for the use of an operation on a day. */
function toEntry({ operation, credentialId, requests, ms, slowestMs, statement }: OperationUse, day: string) {
  const { id, version, name, signature } = operation;
  return {
    id,
    version,
    name,
    document: signature.slice(0, maxCharacters.document),
    credential_id: credentialId,
    day,
    requests,
    ms,
    slowest_ms: slowestMs,
    // Null if it is too long
    statement: statement !== null && statement.length > maxCharacters.statement ? null : statement,
  };
}
