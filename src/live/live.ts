import type { Pool } from "pg";
import type { Logger } from "pino";
import type { DocumentNode, ExecutionResult, GraphQLError, GraphQLSchema } from "postgraphile/graphql";
import { getOperationAST, OperationTypeNode } from "postgraphile/graphql";
import { TokenRefusal } from "../auth/access-token.ts";
import type { Caller } from "../auth/caller.ts";
import type { InvalidatedCache } from "../auth/invalidated-cache.ts";
import type { Listen } from "../postgres/change-listener.ts";
import type { Spend } from "../auth/rate-limits/spend.ts";
import { apiError, isApiError } from "../errors/api-error.ts";
import { completeError } from "../errors/client-errors.ts";
import { FairQueue } from "../lib/fair-queue.ts";
import { growingPause, pause } from "../lib/retry.ts";
import { contextFor } from "../versions/context.ts";
import type { Reader } from "../versions/reader.ts";
import type { EventStream } from "./event-stream.ts";
import { LogFollower } from "./log-follower.ts";

/** Milliseconds between two checks of the access tokens of open streams. */
const checkIntervalMs = 15_000;
/** The most open streams of one credential, and of a process. Each is a connection that is idle most of the time. */
const maxStreams = { ofOne: 20, ofAll: 1_000 };
/** The fewest milliseconds that a read waits for points. */
const minWaitMs = 500;

/** An operation whose results are streamed. */
export interface LiveRequest {
  /** Slug of the version. */
  version: string;
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName: string | null | undefined;
  variables: Record<string, unknown>;
  locale: string | undefined;
  requestId: string;
  credentialId: string;
  /** The client's position, from Last-Event-ID. */
  lastEventId: string | undefined;
  /**
   * Returns the caller, with the current scopes of its access token.
   *
   * @throws {TokenRefusal} when the token isn't valid any more
   * @throws FORBIDDEN when the stream has to end
   */
  caller(): Promise<Caller>;
}

export interface LiveOptions {
  /** Connections of the login role. */
  pool: Pool;
  logger: Logger;
  readerOf: (version: string) => Reader | undefined;
  /** Takes points from the rate limit of a credential. */
  spend: Spend;
  rights: Pick<InvalidatedCache, "onOutdated">;
  /** How it listens for events. */
  listen?: Listen;
}

/** The live streams of a process. */
export class Live {
  readonly log: LogFollower;
  /** Bounds the number of open streams. A stream counts from its request on, and never waits. */
  readonly streams = new FairQueue({
    limit: () => maxStreams.ofAll,
    limitPerOwner: () => maxStreams.ofOne,
    maxWaiting: 0,
    maxWaitingPerOwner: 0,
  });
  readonly #options: LiveOptions;
  /** Open streams, each with functions that check its access token and that end it. */
  readonly #open = new Set<{ check: () => void; end: () => Promise<void> }>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.log = new LogFollower(options.pool, options.logger, options.listen);
    const checkAll = () => this.#open.forEach(({ check }) => check());
    options.rights.onOutdated(checkAll);
    this.#timer = setInterval(checkAll, checkIntervalMs).unref();
  }

  /** Ends all streams, and stops following the log. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#open].map(({ end }) => end()));
    await this.log.close();
  }

  /**
   * Runs the work of a stream, until that ends, the client leaves, or its access token is no longer valid. The client gets an
   * error if it didn't end the stream itself.
   */
  async run(request: LiveRequest, stream: EventStream, work: () => Promise<void>): Promise<void> {
    const refuse = async (error: GraphQLError) => {
      await stream.next({ errors: [completeError(error, request.requestId)] });
      stream.complete();
    };
    const check = () => {
      request.caller().catch((error: unknown) => {
        const refusal = toRefusal(error);
        if (refusal) void refuse(refusal);
      });
    };
    const end = () => refuse(apiError("SERVICE_UNAVAILABLE", "The stream ends. Open it again."));
    const open = { check, end };
    this.#open.add(open);
    const forget = () => this.#open.delete(open);
    // The client may have left while the stream was opened
    if (stream.ended.aborted) forget();
    else stream.ended.addEventListener("abort", forget, { once: true });
    // Scopes may have changed since the request was checked
    check();
    try {
      await work();
      stream.complete();
    } catch (error) {
      const refusal = toRefusal(error);
      if (refusal) return await refuse(refusal);
      this.#options.logger.error({ requestId: request.requestId, err: error }, "a stream ended unexpectedly");
      await refuse(
        apiError("INTERNAL_SERVER_ERROR", "Something went wrong on our side. Open the stream again."),
      );
    }
  }

  /**
   * Reads a result with the caller's current scopes, and takes its points. It waits for points, and for Postgres if that can't be
   * reached.
   *
   * @returns null when the stream has ended meanwhile
   * @throws {TokenRefusal} when the token isn't valid any more
   */
  async read(
    request: LiveRequest,
    text: string,
    variables: Record<string, unknown>,
    ended: AbortSignal,
  ): Promise<ExecutionResult | null> {
    for (let failures = 1; !ended.aborted; failures++) {
      let waitMs = growingPause(failures);
      try {
        const answer = await this.#tryToRead(request, text, variables);
        if (typeof answer === "number") waitMs = Math.max(answer, minWaitMs);
        else if (!isUnavailable(answer)) return answer;
      } catch (error) {
        if (toRefusal(error)) throw error;
      }
      await pause(waitMs, ended);
    }
    return null;
  }

  /** Reads once. @returns the result, or the milliseconds after which there may be enough points */
  async #tryToRead(
    { version, requestId, locale, caller }: LiveRequest,
    text: string,
    variables: Record<string, unknown>,
  ): Promise<ExecutionResult | number> {
    const reader = this.#options.readerOf(version);
    if (!reader) return { errors: [apiError("SERVICE_UNAVAILABLE", "The version isn't served now.")] };
    const { cost, error } = await reader.price(text, variables);
    if (error) return { errors: [completeError(error, requestId)] };
    const currentCaller = await caller();
    const { isAllowed, retryInSeconds } = await this.#options.spend(currentCaller.credentialId, cost);
    return isAllowed
      ? reader.run(text, variables, contextFor(currentCaller, requestId, locale))
      : retryInSeconds * 1_000;
  }
}

/** Whether a later read may succeed. */
const isUnavailable = ({ errors = [] }: ExecutionResult): boolean =>
  errors.some(({ extensions }) => extensions.code === "SERVICE_UNAVAILABLE");

/** Returns the error for a client that has lost its rights to the stream; null for other failures. */
function toRefusal(error: unknown): GraphQLError | null {
  if (error instanceof TokenRefusal)
    return apiError(error.kind === "foreign" ? "UNAUTHORIZED" : "UNAUTHENTICATED", error.message);
  return isApiError(error) && error.extensions.code === "FORBIDDEN" ? error : null;
}

/** Returns the kind of an operation, and whether it is a live query. */
export function getOperationKind({
  document,
  operationName,
}: Pick<LiveRequest, "document" | "operationName">) {
  const operation = getOperationAST(document, operationName);
  return {
    operation: operation?.operation ?? OperationTypeNode.QUERY,
    isLive: operation?.directives?.some(({ name }) => name.value === "live") ?? false,
  };
}
