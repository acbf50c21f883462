import { setTimeout as sleep } from "node:timers/promises";
import type { GraphQLError } from "postgraphile/graphql";
import { getNamedType, isInputObjectType } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import { factsOf } from "../graphql/document-facts.ts";
import { requiringFields } from "../graphql/missing-scopes.ts";
import { Signal } from "../lib/signal.ts";
import type { EventStream } from "./event-stream.ts";
import type { Live, LiveRequest } from "./live.ts";
import type { Topic } from "./log-follower.ts";
import { documentOfOperation } from "./page-document.ts";

/** Milliseconds between two runs of a query at least. */
const pauseMs = 1_000;
/** Milliseconds after which a waiting stream looks again. */
const longestWaitMs = 60_000;

/** The types whose fields an operation shows, and those that its filters look at. */
export function shownTypes({ schema, document, operationName, variables }: Shown): Set<string> {
  const { fields } = factsOf(schema, document);
  const shown = new Set(fields.map((field) => field.slice(0, field.indexOf("."))));
  for (const { field } of requiringFields(schema, document, operationName, variables)) {
    const [owner, name] = field.split(".") as [string, string];
    const type = schema.getType(owner);
    if (!isInputObjectType(type)) continue;
    shown.add(getNamedType(type.getFields()[name]!.type).name.replace(/(FilterInput|ListFilter)$/, ""));
  }
  return shown;
}

type Shown = Pick<LiveRequest, "schema" | "document" | "operationName" | "variables">;

/** Why a query can't be kept up to date: no event is about what it shows; null when it can. */
export function refusalOfQuery(
  shown: ReadonlySet<string>,
  topics: ReadonlyMap<string, Topic>,
): GraphQLError | null {
  const covered = new Set([...topics.values()].map(({ type }) => type));
  if ([...shown].some((type) => covered.has(type))) return null;
  const types = [...covered].sort().join(", ");
  return apiError(
    "BAD_USER_INPUT",
    `No event tells of what the query shows, so its answer can't be kept up to date. Events tell of ${types}.`,
  );
}

/**
 * Follows the log.
 *
 * @returns answers the query, and again after each event of what it shows, whenever the answer is another one
 */
export async function keepCurrent(
  live: Live,
  request: LiveRequest,
): Promise<(stream: EventStream) => Promise<void>> {
  const text = documentOfOperation(request.document, request.operationName)!;
  const shown = shownTypes(request);
  const signal = new Signal();
  const stop = await live.log.follow((events) => {
    if (events.some(({ type }) => type !== undefined && shown.has(type))) signal.notify();
  });
  let sent = "";
  signal.notify();
  const send = async (stream: EventStream) => {
    const { ended } = stream;
    while (!ended.aborted) {
      await signal.wait(longestWaitMs, ended);
      const result = await live.read(request, text, request.variables, ended);
      if (result === null) return;
      const answer = JSON.stringify(result);
      if (answer !== sent) await stream.next(result);
      sent = answer;
      if (result.errors && !result.data) return;
      await sleep(pauseMs, undefined, { signal: ended, ref: false }).catch(() => {});
    }
  };
  return (stream) => send(stream).finally(stop);
}
