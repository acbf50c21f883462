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
import { completed } from "../errors/client-errors.ts";
import { FairQueue } from "../lib/fair-queue.ts";
import { growingPause, pause } from "../lib/retry.ts";
import { contextFor } from "../versions/context.ts";
import type { Reader } from "../versions/reader.ts";
import type { EventStream } from "./event-stream.ts";
import { LogFollower } from "./log-follower.ts";

/** Milliseconds between two looks whether the tokens of open streams are still valid. */
const checkIntervalMs = 15_000;
/** Streams at a time: of one credential, and of a process. Each is a connection, and waits most of its time. */
const maxStreams = { ofOne: 20, ofAll: 1_000 };
/** Milliseconds that a read at least waits for points. */
const leastWaitMs = 500;

/** An operation whose answers are sent as they come. */
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
  /** Where the client was, from Last-Event-ID. */
  lastEventId: string | undefined;
  /**
   * The caller, with the scopes that its token has by now.
   *
   * @throws {TokenRefusal} when the token isn't valid any more
   * @throws FORBIDDEN when the stream may not go on
   */
  caller(): Promise<Caller>;
}

export interface LiveOptions {
  /** Connections of the login role. */
  pool: Pool;
  logger: Logger;
  readerOf: (version: string) => Reader | undefined;
  /** Takes points from the bucket of a credential. */
  spend: Spend;
  rights: Pick<InvalidatedCache, "onOutdated">;
  /** How it listens for events. */
  listen?: Listen;
}

/** The live answers of a process. Open streams share it. */
export class Live {
  readonly log: LogFollower;
  /** Places for open streams, from the moment at which they are requested. None waits for one. */
  readonly streams = new FairQueue({
    limit: () => maxStreams.ofAll,
    limitPerOwner: () => maxStreams.ofOne,
    maxWaiting: 0,
    maxWaitingPerOwner: 0,
  });
  readonly #options: LiveOptions;
  /** Open streams: how to look whether their token is still valid, and how to end them. */
  readonly #open = new Set<{ check: () => void; end: () => Promise<void> }>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.log = new LogFollower(options.pool, options.logger, options.listen);
    const checkAll = () => this.#open.forEach(({ check }) => check());
    options.rights.onOutdated(checkAll);
    this.#timer = setInterval(checkAll, checkIntervalMs).unref();
  }

  /** Ends what it opened, and the streams whose connections are still there. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#open].map(({ end }) => end()));
    await this.log.close();
  }

  /**
   * Runs the work of a stream, until that ends, the client leaves, or its token isn't valid any more. The client gets
   * an error for every end that it didn't want.
   */
  async run(request: LiveRequest, stream: EventStream, work: () => Promise<void>): Promise<void> {
    const refuse = async (error: GraphQLError) => {
      await stream.next({ errors: [completed(error, request.requestId)] });
      stream.complete();
    };
    const check = () => {
      request.caller().catch((error: unknown) => {
        const refusal = refusalOf(error);
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
    // Rights may have changed since it was let in
    check();
    try {
      await work();
      stream.complete();
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal) return await refuse(refusal);
      this.#options.logger.error({ requestId: request.requestId, err: error }, "a stream ended unexpectedly");
      await refuse(
        apiError("INTERNAL_SERVER_ERROR", "Something went wrong on our side. Open the stream again."),
      );
    }
  }

  /**
   * Reads an answer with the present rights of the caller, and pays for it. It waits for points, and for a database that
   * is away.
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
        if (typeof answer === "number") waitMs = Math.max(answer, leastWaitMs);
        else if (!isUnavailable(answer)) return answer;
      } catch (error) {
        if (refusalOf(error)) throw error;
      }
      await pause(waitMs, ended);
    }
    return null;
  }

  /** @returns the answer, or milliseconds after which there may be points enough */
  async #tryToRead(
    { version, requestId, locale, caller }: LiveRequest,
    text: string,
    variables: Record<string, unknown>,
  ): Promise<ExecutionResult | number> {
    const reader = this.#options.readerOf(version);
    if (!reader) return { errors: [apiError("SERVICE_UNAVAILABLE", "The version isn't served now.")] };
    const { cost, error } = await reader.price(text, variables);
    if (error) return { errors: [completed(error, requestId)] };
    const now = await caller();
    const { isAllowed, retryInSeconds } = await this.#options.spend(now.credentialId, cost);
    return isAllowed
      ? reader.run(text, variables, contextFor(now, requestId, locale))
      : retryInSeconds * 1_000;
  }
}

/** Whether it makes sense to read again. */
const isUnavailable = ({ errors = [] }: ExecutionResult): boolean =>
  errors.some(({ extensions }) => extensions.code === "SERVICE_UNAVAILABLE");

/** The error with which a stream ends whose client may not have it any more; null for other failures. */
function refusalOf(error: unknown): GraphQLError | null {
  if (error instanceof TokenRefusal)
    return apiError(error.kind === "foreign" ? "UNAUTHORIZED" : "UNAUTHENTICATED", error.message);
  return isApiError(error) && error.extensions.code === "FORBIDDEN" ? error : null;
}

/** The kind of an operation, and whether it is a query to be kept up to date. */
export function kindOf({ document, operationName }: Pick<LiveRequest, "document" | "operationName">) {
  const operation = getOperationAST(document, operationName);
  return {
    operation: operation?.operation ?? OperationTypeNode.QUERY,
    isLive: operation?.directives?.some(({ name }) => name.value === "live") ?? false,
  };
}
