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

/** The context of every Grafast execution, which HTTP middlewares pass to the plan of an operation. */
export interface ServiceContext {
  /** The caller's scopes, such as `products:read`. */
  readonly scopes: ReadonlySet<string>;
  /** Id of the request, as in the response and the log. */
  readonly requestId: string;
  /** When the request arrived at this process, on the clock of `performance`; undefined for calls from inside the service. */
  readonly arrivedAt?: number;
  /** Id of the caller's credential; null for calls from inside the service. */
  readonly credentialId: string | null;
  /** Checks of mutations that can't be written in SQL; none by default. */
  readonly mutationChecks?: MutationChecks;
  /** Log in which mutations note their outcome. */
  readonly mutationLog?: MutationLog;
  /** Outcome of the operation's only mutation, if that ran before the plan. */
  readonly mutationOutcome?: MutationOutcome | undefined;
  /** Longest time that Postgres may work on a mutation, in milliseconds; a default exists. */
  readonly mutationTimeoutMs?: number;
  /** Makes a secret for a mutation that shows one; without it, such mutations fail. */
  readonly newSecret?: () => NewSecret;
  /** Called with the executor that answers a query; twice if the SQL statement fails. */
  readonly onRead?: ((executor: "sql" | "grafast") => void) | undefined;
  /** The error of the read by one statement, if that was tried. */
  readonly readFailure?: Error | undefined;
  /** Notes that the caller has written something, before it gets its response. */
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
