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
import { createPageDocument } from "./page-document.ts";

/** The most events that are read at a time. */
const maxPageLength = 50;
/** Milliseconds after which a waiting stream wakes up without news. */
const maxWaitMs = 60_000;

/** A subscription to the log. */
export interface EventSubscription {
  page: PageDocument;
  /** The subscribed topics; null for all. */
  topics: readonly string[] | null;
  /** The cursor after which it begins; null to begin now. */
  after: string | null;
  /** The values of the variables that its query uses. */
  variables: Record<string, unknown>;
}

const getListName = ({ field }: PageDocument) => `Query.${field.name.value}`;

/**
 * Reads a subscription from an operation.
 *
 * @returns an error if it is refused
 */
export function readSubscription(request: LiveRequest): EventSubscription | GraphQLError {
  const { schema, document, operationName, lastEventId } = request;
  const page = createPageDocument(schema, document, operationName)!;
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
    const values = getArgumentValues(type, page.field, coerced);
    const { topics = null, after = null } = values as { topics?: string[] | null; after?: string | null };
    // A client that reconnects sends the same operation, with its position
    const start = lastEventId ?? after;
    if (start !== null) decodeCursor({ list: getListName(page), key: uuidKey }, start);
    const variables = Object.fromEntries(
      Object.entries(request.variables).filter(([name]) => page.usedVariables.has(name)),
    );
    return { page, topics, after: start, variables };
  } catch (error) {
    if (isApiError(error)) return error;
    return apiError("BAD_USER_INPUT", (error as Error).message);
  }
}

/** Returns why a client can't subscribe to topics; null if it can. */
export function checkTopics(
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
 * Follows the log of events from a subscription's position, or from now on.
 *
 * @returns a function that sends the events until the stream ends, each once, in the order of the log
 */
export async function followEvents(
  live: Live,
  request: LiveRequest,
  { page, topics, after, variables }: EventSubscription,
): Promise<(stream: EventStream) => Promise<void>> {
  const { names, responseName, text } = page;
  const isWanted = topics === null ? () => true : (topic: string) => topics.includes(topic);
  const signal = new Signal();
  // Counts of subscribed events: all that arrived, and those that may not have been read yet
  let arrived = 0;
  let pending = after === null ? 0 : Infinity;
  const stop = await live.log.follow((events) => {
    const count = events.filter(({ topic }) => isWanted(topic)).length;
    arrived += count;
    pending += count;
    if (count > 0) signal.notify();
  });
  const { newestId } = live.log;
  let cursor = after ?? (newestId === null ? null : encodeCursor(getListName(page), newestId));
  const filter = topics === null ? null : { topic: { in: topics } };
  const send = async (stream: EventStream) => {
    const { ended } = stream;
    while (!ended.aborted) {
      if (pending === 0) {
        await signal.wait(maxWaitMs, ended);
        continue;
      }
      const first = Math.min(pending, maxPageLength);
      const before = arrived;
      const values = { ...variables, [names.first]: first, [names.after]: cursor, [names.filter]: filter };
      const result = await live.read(request, text, values, ended);
      if (result === null) return;
      const found = result.data?.[responseName] as Page | undefined;
      if (result.errors || !found) return await stream.next(withoutLocations(result));
      for (const edge of found.edges) {
        await stream.next({ data: { [responseName]: edge.node } }, edge.cursor);
        cursor = edge.cursor;
      }
      // A page that isn't full is the last one: the missing events are those that the caller may not read
      pending = found.edges.length < first ? arrived - before : pending - first;
    }
  };
  return (stream) => send(stream).finally(stop);
}

/** Returns a page's errors without their locations, which mean nothing to the client. */
const withoutLocations = ({ errors = [] }: ExecutionResult): ExecutionResult => ({
  errors: errors.map(({ message, extensions }) =>
    apiError(extensions.code as Parameters<typeof apiError>[0], message, extensions),
  ),
});
