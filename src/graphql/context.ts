import type { MutationChecks } from "./mutation-check.ts";
import type { MutationLog } from "./mutation-log.ts";
import type { NewSecret } from "./new-secret.ts";

/** Milliseconds that Postgres works on a mutation at most. Writing may take longer than reading. */
export const defaultMutationTimeoutMs = 15_000;

/**
 * What the middlewares of an HTTP request hand to the plan of its operation: the third argument of every Grafast execution.
 */
export interface ServiceContext {
  /** The caller's scopes, for example `products:read`. */
  readonly scopes: ReadonlySet<string>;
  /** Id of the request, the same that answers and the log carry. */
  readonly requestId: string;
  /** Which API credential asks; null for calls from inside the service. */
  readonly credentialId: string | null;
  /** Checks of mutations that can't be written in SQL; none when left out. */
  readonly mutationChecks?: MutationChecks;
  /** Where mutations note what they have come to. */
  readonly mutationLog?: MutationLog;
  /** How long Postgres works on a mutation at most, in milliseconds; the default when left out. */
  readonly mutationTimeoutMs?: number;
  /** Makes a secret for a mutation that shows one; when left out, such mutations fail. */
  readonly newSecret?: () => NewSecret;
  /** Why the one statement that was to answer a read failed, if that has been tried already. */
  readonly readFailure?: Error | undefined;
  /** Settings of the database transaction: role, service.scopes, service.locale and so on. */
  readonly pgSettings: Record<string, string | undefined> | null;
}

declare global {
  namespace Grafast {
    // Grafast and PostGraphile read the context by this name. Its fields are optional there, because their own
    // types also describe requests of other servers.
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- merged with theirs
    interface Context extends Partial<Omit<ServiceContext, "pgSettings">> {}
  }
}
