import type { Request, RequestHandler } from "express";
import { json } from "express";
import { refuse } from "../answers.ts";
import { isPlainJson, readPlainJson } from "../plain-json.ts";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The parameters of a GraphQL request. */
export interface GraphqlBody {
  query: string;
  operationName: string | null | undefined;
  variables: Record<string, unknown> | null | undefined;
}

/** The parameters of a request whose body was read by {@link readGraphqlBody}. */
export const graphqlBodyOf = (request: Request): GraphqlBody => request.body as GraphqlBody;

/** What is wrong with the parameters of a GraphQL request; null when nothing is. */
function complaintAbout({
  query,
  operationName,
  variables,
  extensions,
}: Record<string, unknown>): string | null {
  if (typeof query !== "string") return "“query” must be a string: the GraphQL document.";
  if (operationName != null && typeof operationName !== "string") return "“operationName” must be a string.";
  if (variables != null && !isObject(variables)) return "“variables” must be an object.";
  if (extensions != null && !isObject(extensions)) return "“extensions” must be an object.";
  return null;
}

/**
 * Reads the body, a JSON object as GraphQL over HTTP has it, into `request.body`.
 *
 * @param largest how many bytes it may have
 */
export function readGraphqlBody(largest: number): RequestHandler {
  const parse = json({ limit: largest, type: "application/json" });
  return (request, response, next) => {
    const refuseWith = (status: number, message: string) =>
      refuse(request, response, status, "BAD_USER_INPUT", message);
    // It is null when there is no body at all, which the check of the parameters complains about.
    const isPlain = isPlainJson(request, largest);
    if (!isPlain && request.is("application/json") === false)
      return refuseWith(415, "Send the request as application/json.");
    const read = (done: (error?: unknown) => void) =>
      isPlain ? readPlainJson(request, done) : parse(request, response, done);
    read((error?: unknown) => {
      if (error) return refuseWith(...complaintAboutBody(error, largest));
      if (Array.isArray(request.body))
        return refuseWith(400, "A request holds one operation; there are no batches.");
      const complaint = complaintAbout((request.body ?? {}) as Record<string, unknown>);
      if (complaint) return refuseWith(400, complaint);
      // Nothing else goes on to Grafserv, such as its experimental parameters.
      const { query, operationName, variables } = graphqlBodyOf(request);
      request.body = { query, operationName, variables } satisfies GraphqlBody;
      next();
    });
  };
}

/** Status and message for an error of Express's body parser. */
function complaintAboutBody(error: unknown, largest: number): [number, string] {
  const status = error instanceof Error && "status" in error ? error.status : 400;
  if (status === 413) return [413, `The body has more than ${largest} bytes.`];
  if (status === 415) return [415, "The charset or encoding of the body is not supported. Use UTF-8."];
  return [400, "The body is not valid JSON."];
}
