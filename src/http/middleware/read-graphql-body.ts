import { json } from "express";
import typeIs from "type-is";
import { refuse } from "../answers.ts";
import { isPlainJson, readPlainJson, TooLaborious } from "../plain-json.ts";
import type { Spending } from "./spend-points.ts";
import type { Request, Middleware } from "../pipeline.ts";

/**
 * Bytes of a body whose size isn't known beforehand, because it has no length or is compressed: no points were taken
 * for it.
 */
const maxUntoldBytes = 32_768;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The parameters of a GraphQL request. */
export interface GraphqlBody {
  query: string;
  operationName: string | null | undefined;
  variables: Record<string, unknown> | null | undefined;
}

/** The parameters of a request whose body {@link readGraphqlBody} has read. */
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

/** Answers why a body is refused. */
type Complaint = [status: number, message: string];

/**
 * Reads the body, a JSON object by GraphQL over HTTP, into `request.body`.
 *
 * @param maxBytes longest body in bytes
 */
export function readGraphqlBody(maxBytes: number, spending: Spending): Middleware {
  // Compressed, of unknown length or in another charset
  const readOther = json({ limit: Math.min(maxBytes, maxUntoldBytes), type: "application/json" });
  return (request, response, next) => {
    const refuseWith = ([status, message]: Complaint) => {
      const answer = () => refuse(request, response, status, "BAD_USER_INPUT", message);
      // The rest of such a body is read after the answer, for nothing
      if (status === 413) spending.refuseSlowly(response.locals.caller!.credentialId, answer);
      else answer();
    };
    const check = () => {
      if (Array.isArray(request.body))
        return refuseWith([400, "A request holds one operation; there are no batches."]);
      const complaint = complaintAbout((request.body ?? {}) as Record<string, unknown>);
      if (complaint) return refuseWith([400, complaint]);
      // Grafserv gets nothing else, such as its experimental parameters.
      const { query, operationName, variables } = graphqlBodyOf(request);
      request.body = { query, operationName, variables } satisfies GraphqlBody;
      next();
    };
    if (isPlainJson(request, maxBytes))
      return readPlainJson(request, (error) =>
        error ? refuseWith(complaintAboutBody(error, maxBytes)) : check(),
      );
    // Null when there is no body at all; the check of the parameters reports that.
    if (typeIs(request, ["application/json"]) === false)
      return refuseWith([415, "Send the request as application/json."]);
    readOther(request, response, (error?: unknown) =>
      error ? refuseWith(complaintAboutOther(request, error, maxBytes)) : check(),
    );
  };
}

function complaintAboutOther({ headers }: Request, error: unknown, maxBytes: number): Complaint {
  const complaint = complaintAboutBody(error, maxBytes);
  if (complaint[0] !== 413 || Number(headers["content-length"]) > maxBytes) return complaint;
  const needed = "a Content-Length, UTF-8 and no Content-Encoding";
  return [413, `A body of more than ${maxUntoldBytes} bytes needs ${needed}.`];
}

/** Status and message for an error of the body, ours or of Express's body parser. */
function complaintAboutBody(error: unknown, maxBytes: number): Complaint {
  if (error instanceof TooLaborious) return [400, error.message];
  const status = error instanceof Error && "status" in error ? error.status : 400;
  if (status === 413) return [413, `The body has more than ${maxBytes} bytes.`];
  if (status === 415) return [415, "The charset or encoding of the body is not supported. Use UTF-8."];
  return [400, "The body is not valid JSON."];
}
