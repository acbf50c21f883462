import { LRUCache } from "lru-cache";
import { addVary, mediaTypeFor, refuse } from "../answers.ts";
import type { Request, Middleware } from "../pipeline.ts";

// Clients send the same header with every request.
const known = new LRUCache<string, { type: string | false }>({ max: 500 });

/** The media type that a client prefers; false when it accepts neither. */
function preferredType(request: Request): string | false {
  const header = request.headers.accept ?? "*/*";
  let answer = known.get(header);
  if (!answer) {
    answer = { type: mediaTypeFor(request) };
    if (header.length < 500) known.set(header, answer);
  }
  return answer.type;
}

/** Chooses the media type of the answer, and refuses clients that accept neither. */
export const negotiateMediaType: Middleware = (request, response, next) => {
  const type = preferredType(request);
  if (!type) {
    const message = "Answers are application/json or application/graphql-response+json. Accept one of these.";
    return refuse(request, response, 406, "BAD_USER_INPUT", message);
  }
  // For Grafserv, which would choose differently for clients without a preference.
  request.headers.accept = type;
  addVary(response, "Accept");
  addVary(response, "Accept-Encoding");
  response.setHeader("cache-control", "no-store");
  next();
};
