import type { ExecutionResult } from "postgraphile/graphql";
import type { ServiceContext } from "../graphql/context.ts";
import type { WithClients } from "../postgres/pg-service.ts";
import type { Ran } from "../postgres/pipeline/transaction-settings.ts";
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
/** Milliseconds until a query is tried again that a fault on our side prevented. */
const unavailableRetryMs = 5_000;

/**
 * Kind of failure: `wrong`: the query is invalid, or may no longer be run; `costly`: it takes too much; `unpaid`: its
 * token has too few points; `untried`: for another reason.
 */
export type PayloadFailureKind = "wrong" | "costly" | "unpaid" | "untried";

/** Why the data of a message could not be read, for the subscriber. */
export class PayloadFailure extends Error {
  override name = "PayloadFailure";
  readonly kind: PayloadFailureKind;
  /** Milliseconds after which it may succeed; null when that isn't known. */
  readonly retryAfterMs: number | null;

  constructor(message: string, kind: PayloadFailureKind = "wrong", retryAfterMs: number | null = null) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Reads the data of a message about the subject of its event. @param trace shows the statements; null for nobody */
export type ReadPayload = (delivery: Delivery, trace?: DeliveryTrace | null) => Promise<unknown>;

export interface PayloadOptions {
  /** Runs queries in a version of the API; undefined when it isn't served any more. */
  readerOf: (version: string) => Reader | undefined;
  /** Connections for payload queries only. */
  withPgClient: WithClients;
  /** Their number: each query takes one. */
  connections: number;
  /** Takes points from the bucket of a credential. */
  spend: Spend;
  /** Most points that a query may cost. */
  maxCost: number;
  /** Milliseconds that all statements of a query may take together. */
  timeoutMs: number;
}

/**
 * Makes a reader of payloads. It returns the data at the time of the event or, if the subscription has a payloadQuery,
 * its answer: the query is run with the present scopes of the credential, and paid from its points.
 *
 * @throws {PayloadFailure} from the reader, when the query can't be answered
 */
export function payloadReader(options: PayloadOptions): ReadPayload {
  const { connections } = options;
  // A sender has a maximum of running deliveries, so waiting ones are bounded
  const queue = unboundedQueue<string>(connections, Math.max(1, Math.floor(connections / 2)));
  return async (delivery, trace = null) => {
    const { payload_query: source, topic, body, subscription_id: id } = delivery;
    // Of a deleted subject, only the event is left
    if (source === null || topic.endsWith(".deleted") || topic === "webhook_subscription.test")
      return body.data;
    const owner = delivery.credential_id ?? id;
    const read = async () => {
      try {
        return await readQuery(source, delivery, options, trace);
      } catch (error) {
        // The others of the subscription would take as long and fail as well
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
  if (error) throw failureOf(error.message, error.extensions.code as ErrorCode);
  if (cost > options.maxCost)
    throw new PayloadFailure(
      `The payloadQuery costs ${cost} points; ${options.maxCost} are allowed.`,
      "costly",
    );
  const settle = await pay(options.spend, credential_id, cost);
  const begun = performance.now();
  let result: ExecutionResult;
  try {
    const withPgClient = limitedTo(options.timeoutMs, options.withPgClient);
    result = await reader.run(source, variables, contextOf(delivery, trace), withPgClient);
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
 * Pays for a query before it runs. Returns a function that charges the time that it took, as far as there are points.
 * Queries of administrators are free.
 *
 * @throws {PayloadFailure} when there are too few points
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
      `The payloadQuery costs ${cost} points, and its token has too few left.`,
      "unpaid",
      retryInSeconds * 1_000,
    );
  return async (ms) => {
    const rest = Math.min(Math.ceil(ms / msPerPoint) - cost, remaining);
    if (rest > 0) await spend(credentialId, rest);
  };
}

/** Connections for one query, one at a time, with a limit to their total time. */
function limitedTo(timeoutMs: number, withPgClient: WithClients): WithClients {
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
  if (error) throw failureOf(error.message, error.extensions.code as ErrorCode);
  return data!;
}

const kinds: Partial<Record<ErrorCode, PayloadFailureKind>> = {
  QUERY_TIMEOUT: "costly",
  QUERY_TOO_COMPLEX: "costly",
  SERVICE_UNAVAILABLE: "untried",
};

function failureOf(message: string, code: ErrorCode): PayloadFailure {
  const kind = kinds[code] ?? "wrong";
  const words = `The payloadQuery failed: ${message} (${code})`;
  return new PayloadFailure(words, kind, kind === "untried" ? unavailableRetryMs : null);
}

function contextOf(
  { scopes, credential_id, event_id }: Delivery,
  trace: DeliveryTrace | null,
): ServiceContext {
  const caller = {
    credentialId: credential_id ?? "",
    scopes: new Set(scopes),
    scopeText: (scopes ?? []).join(" "),
  };
  const use = trace && { applicationName: "webhook payloads", note: (ran: Ran) => trace.statement(ran) };
  return contextFor(caller, event_id, "en-GB", use ?? undefined);
}
