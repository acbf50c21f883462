import type { ExecutionResult, GraphQLError } from "postgraphile/graphql";
import { getArgumentValues, getVariableValues } from "postgraphile/graphql";
import { apiError, isApiError } from "../errors/api-error.ts";
import { decodeCursor, encodeCursor } from "../graphql/cursor.ts";
import { uuidKey } from "../graphql/key-forms.ts";
import { findOperation } from "../graphql/operation.ts";
import { Signal } from "../lib/signal.ts";
import type { EventStream } from "./event-stream.ts";
import type { Live, LiveRequest } from "./live.ts";
import type { Topic } from "./log-follower.ts";
import type { PageDocument } from "./page-document.ts";
import { pageDocumentOf } from "./page-document.ts";

/** Most events that are read at a time. */
const longestPage = 50;
/** Milliseconds after which a waiting stream looks again. */
const longestWaitMs = 60_000;

/** A subscription to the log. */
export interface EventSubscription {
  page: PageDocument;
  /** Topics that it is about; null for all. */
  topics: readonly string[] | null;
  /** Cursor after which to begin; null for now. */
  after: string | null;
  /** Values of the variables that its page still uses. */
  variables: Record<string, unknown>;
}

const listOf = ({ field }: PageDocument) => `Query.${field.name.value}`;

/**
 * Reads a subscription from an operation.
 *
 * @returns an error that says why it is refused
 */
export function subscriptionOf(request: LiveRequest): EventSubscription | GraphQLError {
  const { schema, document, operationName, lastEventId } = request;
  const page = pageDocumentOf(schema, document, operationName)!;
  const { operation } = findOperation(document, operationName);
  const { coerced, errors } = getVariableValues(
    schema,
    operation!.variableDefinitions ?? [],
    request.variables,
    { maxErrors: 1 },
  );
  if (errors) return apiError("BAD_USER_INPUT", errors[0]!.message);
  const type = schema.getSubscriptionType()!.getFields()[page.field.name.value]!;
  try {
    const given = getArgumentValues(type, page.field, coerced);
    const { topics = null, after = null } = given as { topics?: string[] | null; after?: string | null };
    // A client that connects again sends the same operation, and where it was
    const start = lastEventId ?? after;
    if (start !== null) decodeCursor({ list: listOf(page), key: uuidKey }, start);
    const variables = Object.fromEntries(
      Object.entries(request.variables).filter(([name]) => page.uses.has(name)),
    );
    return { page, topics, after: start, variables };
  } catch (error) {
    if (isApiError(error)) return error;
    return apiError("BAD_USER_INPUT", (error as Error).message);
  }
}

/** Why topics can't be subscribed to; null when they can. */
export function refusalOfTopics(
  topics: readonly string[] | null,
  known: ReadonlyMap<string, Topic>,
  scopes: ReadonlySet<string>,
): GraphQLError | null {
  for (const name of topics ?? []) {
    const topic = known.get(name);
    if (!topic) {
      const names = [...known.keys()].sort().join(", ");
      return apiError("BAD_USER_INPUT", `There is no topic “${name}”. The topics are ${names}.`);
    }
    if (!scopes.has(topic.scope))
      return apiError("FORBIDDEN", `The topic ${name} needs the scope ${topic.scope}.`);
  }
  return null;
}

interface Page {
  edges: { cursor: string; node: unknown }[];
}

/**
 * Follows the log from the position of a subscription, or from now on.
 *
 * @returns sends the events, in the order of the log and each once, until the stream ends
 */
export async function followEvents(
  live: Live,
  request: LiveRequest,
  { page, topics, after, variables }: EventSubscription,
): Promise<(stream: EventStream) => Promise<void>> {
  const { names, responseName, text } = page;
  const isWanted = topics === null ? () => true : (topic: string) => topics.includes(topic);
  const signal = new Signal();
  // How many wanted events there have been since the beginning, and how many may not have been read yet
  let arrived = 0;
  let pending = after === null ? 0 : Infinity;
  const stop = await live.log.follow((events) => {
    const count = events.filter(({ topic }) => isWanted(topic)).length;
    arrived += count;
    pending += count;
    if (count > 0) signal.notify();
  });
  const { newestId } = live.log;
  let cursor = after ?? (newestId === null ? null : encodeCursor(listOf(page), newestId));
  const filter = topics === null ? null : { topic: { in: topics } };
  const send = async (stream: EventStream) => {
    const { ended } = stream;
    while (!ended.aborted) {
      if (pending === 0) {
        await signal.wait(longestWaitMs, ended);
        continue;
      }
      const first = Math.min(pending, longestPage);
      const before = arrived;
      const values = { ...variables, [names.first]: first, [names.after]: cursor, [names.filter]: filter };
      const result = await live.read(request, text, values, ended);
      if (result === null) return;
      const found = result.data?.[responseName] as Page | undefined;
      if (result.errors || !found) return await stream.next(errorsOf(result));
      for (const edge of found.edges) {
        await stream.next({ data: { [responseName]: edge.node } }, edge.cursor);
        cursor = edge.cursor;
      }
      // A page that isn't full says that there is no more, whatever the caller may not read
      pending = found.edges.length < first ? arrived - before : pending - first;
    }
  };
  return (stream) => send(stream).finally(stop);
}

/** The errors of a page: positions in it mean nothing to the client. */
const errorsOf = ({ errors = [] }: ExecutionResult): ExecutionResult => ({
  errors: errors.map(({ message, extensions }) =>
    apiError(extensions.code as Parameters<typeof apiError>[0], message, extensions),
  ),
});
