import type { Version } from "../../../versions/versions.ts";
import { pathOf } from "../../../versions/versions.ts";
import { refuse } from "../../answers.ts";
import { eventStream } from "../../http-server.ts";
import type { Middleware } from "../../pipeline.ts";

const path = "/api/events";
const address = new RegExp(`^(?:https?://[^/?#]*)?${path}(?:$|[?#])`);

/** Whether a URL is the events endpoint. */
export const isEventsUrl = (url: string): boolean => address.test(url);

/** A message has the body of a webhook, and the id of the event. */
const subscription = `subscription ($topics: [String!], $after: String) {
  events(topics: $topics, after: $after) { id type: topic timestamp: occurredAt sequence changedFields cause data }
}`;

/**
 * Serves the log of events as server-sent events: `GET /api/events?topics=order.created,product.updated`. The request
 * becomes a subscription in a version, with all its checks.
 */
export function eventsEndpoint(version: Version): Middleware {
  return (request, response, next) => {
    if (!isEventsUrl(request.url!)) return next();
    if (request.method !== "GET") {
      response.setHeader("allow", "GET");
      return refuse(request, response, 405, "BAD_USER_INPUT", "Read the events by GET.");
    }
    const parameters = new URL(request.url!, "http://here.invalid").searchParams;
    const topics = parameters
      .getAll("topics")
      .flatMap((list) => list.split(","))
      .filter(Boolean);
    const variables = { topics: topics.length > 0 ? topics : null, after: parameters.get("after") };
    const query = new URLSearchParams({ query: subscription, variables: JSON.stringify(variables) });
    request.url = `${pathOf(version)}?${query}`;
    request.headers.accept = eventStream;
    response.locals.isEventsEndpoint = true;
    response.locals.loggedPath = path;
    next();
  };
}
