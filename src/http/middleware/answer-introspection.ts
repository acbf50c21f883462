import { LRUCache } from "lru-cache";
import { execute, getOperationAST } from "postgraphile/graphql";
import { graphqlBodyOf } from "./read-graphql-body.ts";
import type { UnreadAnswers } from "../unread-answers.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import type { HeavyWork } from "../../lib/heavy-work.ts";
import { introspectionOf } from "../../graphql/introspection.ts";
import { sendData } from "../send-data.ts";
import type { Middleware } from "../pipeline.ts";

/** Characters of cached answers, of all versions together: some twenty full ones. */
const maxKeptCharacters = 16_000_000;

/**
 * Answers operations that only query the schema. The answer is the same for all callers, so its text is made once for
 * each document and schema.
 */
export function answerIntrospection(
  served: readonly ServedVersion[],
  unread: UnreadAnswers,
  heavyWork: HeavyWork,
): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  let schemas = 0;
  const numbers = new WeakMap<object, number>();
  const kept = new LRUCache<string, string>({
    maxSize: maxKeptCharacters,
    sizeCalculation: (answer, key) => answer.length + key.length,
  });
  return (request, response, next) => {
    const { locals } = response;
    const { schema } = bySlug.get(locals.version!.slug)!.current();
    const { query, operationName, variables } = graphqlBodyOf(request);
    const document = locals.operation!.document!;
    const { isAll } = introspectionOf(schema, document, operationName, variables ?? {});
    if (!isAll) return next();
    let number = numbers.get(schema);
    if (number === undefined) numbers.set(schema, (number = schemas++));
    const isFixed = !getOperationAST(document, operationName)?.variableDefinitions?.length;
    const key = `${number} ${operationName ?? ""} ${query}`;
    const data = isFixed ? kept.get(key) : undefined;
    const send = (text: string) => {
      sendData(request, response, text);
      unread.count(response);
    };
    if (data !== undefined) return send(data);
    heavyWork
      .run(() => {
        // Nothing in it is asynchronous: it only reads the schema
        const result = execute({ schema, document, operationName, variableValues: variables });
        return result instanceof Promise || result.errors ? null : JSON.stringify(result.data);
      })
      .then((made) => {
        if (made === null) return next();
        if (isFixed) kept.set(key, made);
        send(made);
      })
      .catch(next);
  };
}
