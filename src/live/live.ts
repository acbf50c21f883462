import type { Pool } from "pg";
import type { Logger } from "pino";
import type { DocumentNode, ExecutionResult, GraphQLError, GraphQLSchema } from "postgraphile/graphql";
import { getOperationAST, OperationTypeNode } from "postgraphile/graphql";
import { TokenRefusal } from "../auth/access-token.ts";
import type { Caller } from "../auth/caller.ts";
import type { InvalidatedCache } from "../auth/invalidated-cache.ts";
import type { ListeningPlaces } from "../postgres/occasional-listener.ts";
import type { Spend } from "../auth/rate-limits/spend.ts";
import { apiError, isApiError } from "../errors/api-error.ts";
import { completed } from "../errors/client-errors.ts";
import { growingPause, pause } from "../lib/retry.ts";
import { contextFor } from "../versions/context.ts";
import type { Reader } from "../versions/reader.ts";
import type { EventStream } from "./event-stream.ts";
import { LogFollower } from "./log-follower.ts";
import { OpenStreams } from "./open-streams.ts";

/** Milliseconds between two looks whether the tokens of open streams are still valid. */
const checkIntervalMs = 15_000;
/** Pauses before a read is tried again that failed for now. */
const pauses = { firstMs: 500, longestMs: 15_000 };

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

/** Sends answers in the form that the client asked for. */
export interface Sink {
  stream: EventStream;
  next(result: ExecutionResult, cursor?: string): Promise<void>;
  /** Says that nothing more will come. */
  complete(): void;
}

export interface LiveOptions {
  /** Connections of the login role. */
  pool: Pool;
  logger: Logger;
  readerOf: (version: string) => Reader | undefined;
  /** Takes points from the bucket of a credential. */
  spend: Spend;
  rights: Pick<InvalidatedCache, "onOutdated">;
  /** Where only some may listen for events, see `LogFollower`. */
  places?: ListeningPlaces | undefined;
}

/** What open streams of a process share. */
export class Live {
  readonly log: LogFollower;
  readonly open = new OpenStreams();
  readonly #options: LiveOptions;
  readonly #checks = new Set<() => void>();
  /** What ends each open stream. */
  readonly #ends = new Set<() => Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.log = new LogFollower(options.pool, options.logger, options.places);
    const checkAll = () => this.#checks.forEach((check) => check());
    options.rights.onOutdated(checkAll);
    this.#timer = setInterval(checkAll, checkIntervalMs).unref();
  }

  /** Ends what it opened, and the streams whose connections are still there. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#ends].map((end) => end()));
    await this.log.close();
  }

  /**
   * Runs the work of a stream, until that ends, the client leaves, or its token isn't valid any more. The client is told
   * of every end that it didn't want.
   */
  async run(request: LiveRequest, sink: Sink, work: () => Promise<void>): Promise<void> {
    const { stream } = sink;
    const refuse = async (error: GraphQLError) => {
      await sink.next({ errors: [completed(error, request.requestId)] });
      sink.complete();
    };
    const check = () => {
      request.caller().catch((error: unknown) => {
        const refusal = refusalOf(error);
        if (refusal) void refuse(refusal);
      });
    };
    const end = () => refuse(apiError("SERVICE_UNAVAILABLE", "The stream ends. Open it again."));
    const forget = () => {
      this.#checks.delete(check);
      this.#ends.delete(end);
    };
    this.#checks.add(check);
    this.#ends.add(end);
    // The client may have left while the stream was opened
    if (stream.ended.aborted) forget();
    else stream.ended.addEventListener("abort", forget, { once: true });
    // Rights may have changed since it was let in
    check();
    try {
      await work();
      sink.complete();
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
    { version, requestId, locale, caller }: LiveRequest,
    text: string,
    variables: Record<string, unknown>,
    ended: AbortSignal,
  ): Promise<ExecutionResult | null> {
    const { readerOf, spend } = this.#options;
    for (let failures = 1; !ended.aborted; failures++) {
      const reader = readerOf(version);
      const result = await attempt(async () => {
        if (!reader) return { errors: [apiError("SERVICE_UNAVAILABLE", "The version isn't served now.")] };
        const { cost, error } = await reader.price(text, variables);
        if (error) return { errors: [completed(error, requestId)] };
        const now = await caller();
        const { isAllowed, retryAfterMs } = await spend(now.credentialId, cost);
        if (!isAllowed) return retryAfterMs;
        return reader.run(text, variables, contextFor(now, requestId, locale));
      });
      if (result !== null && typeof result === "object") return result;
      await pause(result ?? growingPause(failures, pauses), ended);
    }
    return null;
  }
}

/** The result; or milliseconds after which another attempt makes sense, null when that isn't known. */
async function attempt(
  work: () => Promise<ExecutionResult | number>,
): Promise<ExecutionResult | number | null> {
  try {
    const result = await work();
    if (typeof result === "number") return Math.max(result, pauses.firstMs);
    return result.errors?.some(({ extensions }) => extensions.code === "SERVICE_UNAVAILABLE") ? null : result;
  } catch (error) {
    if (refusalOf(error)) throw error;
    return null;
  }
}

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
