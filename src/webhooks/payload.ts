import type { ExecutionResult } from "postgraphile/graphql";
import type { ServiceContext } from "../graphql/context.ts";
import type { WithClients } from "../postgres/pg-service.ts";
import type { StatementRun } from "../postgres/pipeline/transaction-settings.ts";
import type { DeliveryTrace } from "../tracing/spans.ts";
import { apiError } from "../errors/api-error.ts";
import type { ErrorCode } from "../errors/api-error.ts";
import type { Spend } from "../auth/rate-limits/spend.ts";
import { unboundedQueue } from "../lib/fair-queue.ts";
import type { Reader } from "../versions/reader.ts";
import { contextFor } from "../versions/context.ts";
import type { Delivery } from "./delivery-queues.ts";

/** Largest payload, in characters of JSON. */
const maxCharacters = 1_000_000;
/** Milliseconds of reading that cost a point. */
const msPerPoint = 10;
/** Milliseconds until a query is retried that failed on our side. */
const unavailableRetryMs = 5_000;

/**
 * Kind of failure. `wrong`: the query is invalid or not allowed any more. `costly`: it exceeds a limit of cost, time or
 * size. `unpaid`: its API credential has too few points. `untried`: it wasn't run, or failed on our side.
 */
export type PayloadFailureKind = "wrong" | "costly" | "unpaid" | "untried";

/** Thrown if the data of a message can't be read. The message is for the subscriber. */
export class PayloadFailure extends Error {
  override name = "PayloadFailure";
  readonly kind: PayloadFailureKind;
  /** Milliseconds after which it may succeed; null if unknown. */
  readonly retryAfterMs: number | null;

  constructor(message: string, kind: PayloadFailureKind = "wrong", retryAfterMs: number | null = null) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Reads the data of a message about the subject of its event. @param trace records the statements; null without tracing */
export type ReadPayload = (delivery: Delivery, trace?: DeliveryTrace | null) => Promise<unknown>;

export interface PayloadOptions {
  /** Returns the reader of an API version; undefined if the version isn't served any more. */
  readerOf: (version: string) => Reader | undefined;
  /** Connections for payload queries only. */
  withPgClient: WithClients;
  /** Number of these connections. Each query takes one. */
  connections: number;
  /** Takes points from the bucket of an API credential. */
  spend: Spend;
  /** Most points that a query may cost. */
  maxCost: number;
  /** Milliseconds that all statements of a query may take together. */
  timeoutMs: number;
}

/**
 * Makes a reader of payloads. It returns the data at the time of the event or, if the subscription has a payloadQuery,
 * the query's result. The query runs with the current scopes of the API credential and costs its points.
 *
 * @throws {PayloadFailure} from the reader, if the query fails
 */
export function payloadReader(options: PayloadOptions): ReadPayload {
  const { connections } = options;
  // The sender limits running deliveries, so the queue is bounded as well
  const queue = unboundedQueue<string>(connections, Math.max(1, Math.floor(connections / 2)));
  return async (delivery, trace = null) => {
    const { payload_query: source, topic, body, subscription_id: id } = delivery;
    // A deleted subject can't be queried: only the event's data are left
    if (source === null || topic.endsWith(".deleted") || topic === "webhook_subscription.test")
      return body.data;
    const owner = delivery.credential_id ?? id;
    const read = async () => {
      try {
        return await readQuery(source, delivery, options, trace);
      } catch (error) {
        // Waiting queries of the subscription would take as long and fail as well
        if (error instanceof PayloadFailure && error.kind !== "wrong")
          queue.drop(owner, (other) => other === id, new PayloadFailure(error.message, "untried"));
        throw error;
      }
    };
    return queue.run(owner, read, id);
  };
}

async function readQuery(
  source: string,
  delivery: Delivery,
  options: PayloadOptions,
  trace: DeliveryTrace | null,
): Promise<unknown> {
  const { api_version, credential_id, body } = delivery;
  const { data } = body;
  const reader = options.readerOf(api_version);
  if (!reader) throw new PayloadFailure(`The version ${api_version} isn't served any more.`);
  const variables = { id: data.id };
  const { cost, error } = await reader.price(source, variables);
  if (error) throw toPayloadFailure(error.message, error.extensions.code as ErrorCode);
  if (cost > options.maxCost)
    throw new PayloadFailure(
      `The payloadQuery costs ${cost} points; ${options.maxCost} are allowed.`,
      "costly",
    );
  const settle = await pay(options.spend, credential_id, cost);
  const begun = performance.now();
  let result: ExecutionResult;
  try {
    const withPgClient = limitTime(options.timeoutMs, options.withPgClient);
    result = await reader.run(source, variables, makeContext(delivery, trace), withPgClient);
  } finally {
    await settle(performance.now() - begun);
  }
  const read = requireData(result);
  const isGone = Object.values(read).every((value) => value === null);
  if (isGone) return data;
  const { length } = JSON.stringify(read);
  if (length > maxCharacters)
    throw new PayloadFailure(`The payload has ${length} characters; ${maxCharacters} are allowed.`, "costly");
  return read;
}

/**
 * Pays for a query before it runs. Returns a function that charges for its time afterwards, as far as there are points.
 * Queries of administrators are free.
 *
 * @throws {PayloadFailure} if there are too few points
 */
async function pay(
  spend: Spend,
  credentialId: string | null,
  cost: number,
): Promise<(ms: number) => Promise<void>> {
  if (credentialId === null) return async () => {};
  const { isAllowed, remaining, retryInSeconds } = await spend(credentialId, cost);
  if (!isAllowed)
    throw new PayloadFailure(
      `The payloadQuery costs ${cost} points, and its API credential has too few left.`,
      "unpaid",
      retryInSeconds * 1_000,
    );
  return async (ms) => {
    const rest = Math.min(Math.ceil(ms / msPerPoint) - cost, remaining);
    if (rest > 0) await spend(credentialId, rest);
  };
}

/** Gives connections to one query, one at a time, and limits their total time. */
function limitTime(timeoutMs: number, withPgClient: WithClients): WithClients {
  const end = performance.now() + timeoutMs;
  let last: Promise<unknown> = Promise.resolve();
  return (settings, work) => {
    const next = last.then(() => {
      const left = Math.floor(end - performance.now());
      if (left < 1) throw apiError("QUERY_TIMEOUT", "It took too long and was stopped.");
      return withPgClient({ ...settings, statement_timeout: String(left) }, work);
    });
    last = next.catch(() => {});
    return next;
  };
}

function requireData({ data, errors = [] }: ExecutionResult): Record<string, unknown> {
  const [error] = errors;
  if (error) throw toPayloadFailure(error.message, error.extensions.code as ErrorCode);
  return data!;
}

const kinds: Partial<Record<ErrorCode, PayloadFailureKind>> = {
  QUERY_TIMEOUT: "costly",
  QUERY_TOO_COMPLEX: "costly",
  SERVICE_UNAVAILABLE: "untried",
};

function toPayloadFailure(message: string, code: ErrorCode): PayloadFailure {
  const kind = kinds[code] ?? "wrong";
  const words = `The payloadQuery failed: ${message} (${code})`;
  return new PayloadFailure(words, kind, kind === "untried" ? unavailableRetryMs : null);
}

function makeContext(
  { scopes, credential_id, event_id }: Delivery,
  trace: DeliveryTrace | null,
): ServiceContext {
  const caller = {
    credentialId: credential_id ?? "",
    scopes: new Set(scopes),
    scopeText: (scopes ?? []).join(" "),
  };
  const use = trace && {
    applicationName: "webhook payloads",
    note: (ran: StatementRun) => trace.addStatement(ran),
  };
  return contextFor(caller, event_id, "en-GB", use ?? undefined);
}
