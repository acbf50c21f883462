import type { MutationChecks } from "./mutation-check.ts";
import type { MutationLog } from "./mutation-log.ts";
import type { MutationOutcome } from "./mutation-outcome.ts";

/** Longest time that Postgres may work on a mutation, in milliseconds. Writing may take longer than reading. */
export const defaultMutationTimeoutMs = 15_000;

/**
 * A secret that a mutation stores and shows once. The service makes it, so that the database never sees it in plain
 * text.
 */
export interface NewSecret {
  /** Id of the row that stores it. */
  id: string;
  plain: string;
  /** The stored form: encrypted if there is a key. */
  stored: string;
}

/** What the HTTP middlewares pass to the plan of an operation: the context of every Grafast execution. */
export interface ServiceContext {
  /** The caller's scopes, such as `products:read`. */
  readonly scopes: ReadonlySet<string>;
  /** Id of the request, as in the answer and the log. */
  readonly requestId: string;
  /** When the request arrived at this process, on the clock of `performance`; calls from inside the service don't say. */
  readonly arrivedAt?: number;
  /** Id of the caller's credential; null for calls from inside the service. */
  readonly credentialId: string | null;
  /** Checks of mutations that can't be written in SQL; none by default. */
  readonly mutationChecks?: MutationChecks;
  /** Where mutations note their outcome. */
  readonly mutationLog?: MutationLog;
  /** What became of the operation's only mutation, if that ran before. */
  readonly mutationOutcome?: MutationOutcome | undefined;
  /** Longest time that Postgres may work on a mutation, in milliseconds; a default exists. */
  readonly mutationTimeoutMs?: number;
  /** Makes a secret for a mutation that shows one; without it, such mutations fail. */
  readonly newSecret?: () => NewSecret;
  /** Called with what answers a query: one SQL statement, or Grafast; twice if the statement fails. */
  readonly onRead?: ((executor: "sql" | "grafast") => void) | undefined;
  /** The error of the read by one statement, if that was tried. */
  readonly readFailure?: Error | undefined;
  /** Notes that the caller has written something, before its answer. */
  readonly noteWrite?: (() => Promise<void>) | undefined;
  /** Settings of the database transaction: role, service.scopes, service.locale and so on. */
  readonly pgSettings: Record<string, string | undefined> | null;
}

declare global {
  namespace Grafast {
    // Grafast and PostGraphile read the context by this name. Its fields are optional there, because their own
    // types also describe requests of other servers.
    // oxlint-disable-next-line typescript/no-empty-object-type -- merged with theirs
    interface Context extends Partial<Omit<ServiceContext, "pgSettings">> {}
  }
}
