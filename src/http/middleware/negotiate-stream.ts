import accepts from "accepts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import { graphqlMediaTypes } from "../answers.ts";
import { eventStream } from "../http-server.ts";
import type { Middleware } from "../pipeline.ts";

declare global {
  namespace Express {
    interface Locals {
      /** Whether the client wants its answers as server-sent events. */
      isStream?: boolean;
    }
  }
}

/** Notes whether the client wants a stream, in versions that have subscriptions. Refusals are JSON then. */
export function negotiateStream(served: readonly ServedVersion[]): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  return (request, response, next) => {
    if (!request.headers.accept?.includes(eventStream)) return next();
    const { schema } = bySlug.get(response.locals.version!.slug)!.current();
    const wanted = accepts(request).type([...graphqlMediaTypes, eventStream]);
    if (wanted === eventStream && schema.getSubscriptionType()) {
      response.locals.isStream = true;
      request.headers.accept = "application/graphql-response+json";
    }
    next();
  };
}
