import accepts from "accepts";
import { addVary, graphqlMediaTypes, mediaTypeFor, refuse } from "../../answers.ts";
import { eventStream } from "../../http-server.ts";
import type { Middleware } from "../../pipeline.ts";

const [stream, whole] = [{ isStream: true }, { isStream: false }];

/** Notes whether the client accepts a stream, in versions that have subscriptions. Refusals are JSON even then. */
export const negotiateStream: Middleware<"served", "isStream"> = (request, response, next) => {
  if (!request.headers.accept?.includes(eventStream)) return next(whole);
  const { schema } = response.locals.served.current();
  const wanted = accepts(request).type([...graphqlMediaTypes, eventStream]);
  if (wanted !== eventStream || !schema.getSubscriptionType()) return next(whole);
  request.headers.accept = "application/graphql-response+json";
  next(stream);
};

/** Chooses the media type of the response, and refuses clients that accept neither. */
export const negotiateMediaType: Middleware = (request, response, next) => {
  const type = mediaTypeFor(request.headers.accept ?? "*/*");
  if (!type) {
    const message =
      "Responses are application/json or application/graphql-response+json. Accept one of these.";
    return refuse(request, response, 406, "BAD_USER_INPUT", message);
  }
  // Later middlewares read the choice from there
  request.headers.accept = type;
  addVary(response, "Accept");
  addVary(response, "Accept-Encoding");
  response.setHeader("cache-control", "no-store");
  next();
};
