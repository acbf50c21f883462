import { LRUCache } from "lru-cache";
import { getOperationAST } from "postgraphile/graphql";
import { measureIntrospection } from "../../../graphql/introspection.ts";
import type { SchemaWork } from "../../../graphql/schema-thread.ts";
import { memoizeByObject } from "../../../lib/remembered.ts";
import type { Middleware } from "../../pipeline.ts";
import { refuseTurn } from "../limits/turns.ts";
import type { UnreadResponses } from "../limits/unread-answers.ts";
import { sendData } from "./send-data.ts";

/** Bytes of cached results, of all versions together: about twenty full ones. */
const maxKeptBytes = 16_000_000;

/**
 * Answers operations that only query the schema. The result is the same for all callers, so its text is created once for
 * each document and schema. A worker thread does that, because it takes tens of milliseconds.
 */
export function answerIntrospection(
  unread: UnreadResponses,
  thread: SchemaWork,
): Middleware<"body" | "caller" | "execution" | "operation"> {
  let schemas = 0;
  const numberOf = memoizeByObject<object, number>(() => schemas++);
  const cache = new LRUCache<string, Uint8Array>({
    maxSize: maxKeptBytes,
    sizeCalculation: (answer, key) => answer.byteLength + key.length,
  });
  return (request, response, next) => {
    const { body, caller, execution } = response.locals;
    const { schema, document } = execution;
    const { query: text, operationName, variables } = body;
    const { isAll } = measureIntrospection(schema, document, operationName, variables ?? {});
    if (!isAll) return next();
    const isFixed = !getOperationAST(document, operationName)?.variableDefinitions?.length;
    const key = `${numberOf(schema)} ${operationName ?? ""} ${text}`;
    const data = isFixed ? cache.get(key) : undefined;
    const send = (answer: Uint8Array) => sendData(request, response, answer, unread);
    if (data !== undefined) return send(data);
    return thread
      .introspect(caller.credentialId, schema, { text, operationName, variableValues: variables })
      .then(
        (result) => {
          if (result === null) return next();
          if (isFixed) cache.set(key, result);
          send(result);
        },
        refuseTurn(request, response),
      );
  };
}
