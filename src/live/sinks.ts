import type { ExecutionResult } from "postgraphile/graphql";
import type { EventStream } from "./event-stream.ts";
import type { Sink } from "./live.ts";

/** Answers by the protocol GraphQL over SSE, in its mode of distinct connections: events `next`, then `complete`. */
export function graphqlSink(stream: EventStream): Sink {
  return {
    stream,
    next: (result, cursor) =>
      stream.send({
        id: cursor,
        event: "next",
        data: JSON.stringify(cursor === undefined ? result : { ...result, extensions: { cursor } }),
      }),
    complete: () => stream.end({ event: "complete", data: "" }),
  };
}

/** Messages with the events themselves, as webhooks have them; an `error` says why the stream ends. */
export function plainSink(stream: EventStream): Sink {
  return {
    stream,
    next({ data, errors }: ExecutionResult, cursor) {
      if (errors) return stream.send({ event: "error", data: JSON.stringify({ errors }) });
      return stream.send({ id: cursor, data: JSON.stringify(Object.values(data!)[0]) });
    },
    complete: () => stream.end(),
  };
}
