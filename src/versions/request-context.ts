import type { DocumentNode } from "postgraphile/graphql";
import type { Caller } from "../auth/caller.ts";
import type { RequestUse } from "../auth/request-use.ts";
import type { ServiceContext } from "../graphql/context.ts";
import type { MutationChecks } from "../graphql/mutation-check.ts";
import { MutationLog } from "../graphql/mutation-log.ts";
import type { MutationOutcome } from "../graphql/mutation-outcome.ts";
import type { NewSecret } from "../graphql/context.ts";
import { contextFor } from "./context.ts";
import type { OwnParts } from "./own-parts.ts";

/** A request that has passed all middlewares before the version's. */
export interface PassedRequest {
  requestId: string;
  /** When it arrived at this process, on the clock of `performance`. */
  arrivedAt: number;
  caller: Caller;
  locale: string | undefined;
  document: DocumentNode;
  /** Of its operation. */
  use: RequestUse | undefined;
  /** Extensions of the answer, once it is made. */
  extensions(): Record<string, unknown>;
  /** Notes the code of an error of its answer. */
  noteError(code: string): void;
  /** The error of the read by one statement, if that was tried. */
  readFailure: Error | undefined;
  /** What became of the operation's only mutation, if that ran before. */
  mutationOutcome: MutationOutcome | undefined;
  /** Notes that the caller has written something; undefined where nobody needs to know. */
  noteWrite: (() => Promise<void>) | undefined;
}

/** What a version has for mutations. */
export interface ForMutations {
  /** Longest time that Postgres may work on a mutation, in milliseconds. */
  mutationTimeoutMs: number;
  /** Checks of mutations that can't be written in SQL. */
  mutationChecks?: MutationChecks;
  /** Database settings for rules about writing. */
  mutationSettings?: Readonly<Record<string, string>>;
  /** Makes a secret for a mutation that shows one. */
  newSecret?: () => NewSecret;
}

/** The context of a request's operation. @param own of the merchant, where it shares the version with others */
export function contextOf(
  { requestId, arrivedAt, caller, locale, readFailure, mutationOutcome, noteWrite, use }: PassedRequest,
  { mutationTimeoutMs, mutationSettings, newSecret, ...forMutations }: ForMutations,
  own: OwnParts | undefined,
): ServiceContext {
  const mutationChecks = own?.mutationChecks ?? forMutations.mutationChecks;
  const context = contextFor(caller, requestId, locale, use, use?.trace?.traceparent);
  const pgSettings = { ...context.pgSettings, ...mutationSettings };
  const mutationLog = new MutationLog();
  return {
    ...context,
    arrivedAt,
    readFailure,
    mutationLog,
    mutationOutcome,
    noteWrite,
    mutationTimeoutMs,
    mutationChecks,
    newSecret,
    pgSettings,
    // It wins over that of the preset
    ...(own && { withPgClient: own.withPgClient }),
  };
}
