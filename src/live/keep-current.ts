import { setTimeout as sleep } from "node:timers/promises";
import type { GraphQLError } from "postgraphile/graphql";
import { getNamedType, isInputObjectType } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import { findDocumentFacts } from "../graphql/document-facts.ts";
import { requiringFields } from "../graphql/missing-scopes.ts";
import { Signal } from "../lib/signal.ts";
import type { EventStream } from "./event-stream.ts";
import type { Live, LiveRequest } from "./live.ts";
import type { Topic } from "./log-follower.ts";
import { extractOperation } from "./page-document.ts";

/** The fewest milliseconds between two runs of a query. */
const minIntervalMs = 1_000;
/** Milliseconds after which a waiting stream reads again without an event. */
const maxWaitMs = 60_000;

/** Returns the types whose fields an operation selects or filters by. */
export function findTypesRead({
  schema,
  document,
  operationName,
  variables,
}: OperationWithVariables): Set<string> {
  const { fields } = findDocumentFacts(schema, document);
  const shown = new Set(fields.map((field) => field.slice(0, field.indexOf("."))));
  for (const { field } of requiringFields(schema, document, operationName, variables)) {
    const [owner, name] = field.split(".") as [string, string];
    const type = schema.getType(owner);
    if (!isInputObjectType(type)) continue;
    shown.add(getNamedType(type.getFields()[name]!.type).name.replace(/(FilterInput|ListFilter)$/, ""));
  }
  return shown;
}

type OperationWithVariables = Pick<LiveRequest, "schema" | "document" | "operationName" | "variables">;

/** Returns why a query can't be kept up to date: no event is about its types. Null if it can. */
export function checkLiveQuery(
  shown: ReadonlySet<string>,
  topics: ReadonlyMap<string, Topic>,
): GraphQLError | null {
  const covered = new Set([...topics.values()].map(({ type }) => type));
  if ([...shown].some((type) => covered.has(type))) return null;
  const types = [...covered].sort().join(", ");
  return apiError(
    "BAD_USER_INPUT",
    `No event is about what the query reads, so its result can't be kept up to date. Events are about ${types}.`,
  );
}

/**
 * Follows the log of events for a live query.
 *
 * @returns a function that sends the result, runs the query again after events about its types, and sends results that differ
 */
export async function followLiveQuery(
  live: Live,
  request: LiveRequest,
): Promise<(stream: EventStream) => Promise<void>> {
  const text = extractOperation(request.document, request.operationName)!;
  const shown = findTypesRead(request);
  const signal = new Signal();
  const stop = await live.log.follow((events) => {
    if (events.some(({ type }) => type !== undefined && shown.has(type))) signal.notify();
  });
  let sent = "";
  signal.notify();
  const send = async (stream: EventStream) => {
    const { ended } = stream;
    while (!ended.aborted) {
      await signal.wait(maxWaitMs, ended);
      const result = await live.read(request, text, request.variables, ended);
      if (result === null) return;
      const answer = JSON.stringify(result);
      if (answer !== sent) await stream.next(result);
      sent = answer;
      if (result.errors && !result.data) return;
      await sleep(minIntervalMs, undefined, { signal: ended, ref: false }).catch(() => {});
    }
  };
  return (stream) => send(stream).finally(stop);
}
