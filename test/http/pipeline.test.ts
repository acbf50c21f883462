import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { Pipeline } from "../../src/http/pipeline.ts";
import type { Middleware } from "../../src/http/pipeline.ts";

const addsLocale: Middleware<never, "locale"> = (_request, _response, next) => next({ locale: "de-DE" });
const found: string[] = [];
const needsLocale: Middleware<"locale"> = (_request, response) => void found.push(response.locals.locale);

function send(pipeline: Pipeline<never> | Pipeline<"locale">): unknown[] {
  const errors: unknown[] = [];
  const request = new IncomingMessage(new Socket());
  pipeline.listener((error) => void errors.push(error))(request, new ServerResponse(request));
  return errors;
}

test("a middleware gets the facts of those before it, and the compiler refuses another order", () => {
  assert.deepEqual(send(new Pipeline().use(addsLocale).use(needsLocale)), []);
  assert.deepEqual(found, ["de-DE"]);
  // @ts-expect-error: nothing before it adds the locale
  new Pipeline().use(needsLocale);
  // @ts-expect-error: it hands on nothing
  const forgets: Middleware<never, "locale"> = (_request, _response, next) => next();
  assert.ok(forgets);
});

test("what a middleware throws, at once or later, ends the pipeline", async () => {
  const error = new Error("It fails.");
  const failing = new Pipeline().use(() => {
    throw error;
  });
  assert.deepEqual(send(failing), [error]);
  const late = send(new Pipeline().use(() => Promise.reject(error)));
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual(late, [error]);
});
