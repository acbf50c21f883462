import { json, text } from "express";
import typeIs from "type-is";
import type { HeavyWork } from "../../lib/heavy-work.ts";
import { refuse } from "../answers.ts";
import { isPlainJson, readPlainJson } from "../plain-json.ts";
import type { Request, Middleware, Response } from "../pipeline.ts";

/** Bytes from which parsing JSON may delay other requests. */
const longBodyBytes = 65_536;
/**
 * Bytes of a body whose size isn't known beforehand, because it has no length or is compressed: no points were taken
 * for it.
 */
const maxUntoldBytes = 32_768;
/** Lists and objects of a long body. A megabyte of JSON that contains nothing else takes some 100 ms to parse. */
const maxBrackets = 50_000;

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

/** Reads a body into `request.body`; calls back with an error, if any. */
type ReadBody = (request: Request, response: Response, done: (complaint: Complaint | null) => void) => void;

/**
 * Reads the body, a JSON object by GraphQL over HTTP, into `request.body`.
 *
 * @param maxBytes longest body in bytes
 */
export function readGraphqlBody(maxBytes: number, heavyWork: HeavyWork): Middleware {
  const maxPlainBytes = Math.min(maxBytes, longBodyBytes - 1);
  const readOther = otherBodies(maxBytes, heavyWork);
  return (request, response, next) => {
    const refuseWith = (status: number, message: string) => {
      if (status !== 503) return refuse(request, response, status, "BAD_USER_INPUT", message);
      response.setHeader("retry-after", "1");
      refuse(request, response, status, "SERVICE_UNAVAILABLE", message);
    };
    const check = () => {
      if (Array.isArray(request.body))
        return refuseWith(400, "A request holds one operation; there are no batches.");
      const complaint = complaintAbout((request.body ?? {}) as Record<string, unknown>);
      if (complaint) return refuseWith(400, complaint);
      // Grafserv gets nothing else, such as its experimental parameters.
      const { query, operationName, variables } = graphqlBodyOf(request);
      request.body = { query, operationName, variables } satisfies GraphqlBody;
      next();
    };
    if (isPlainJson(request, maxPlainBytes))
      return readPlainJson(request, (error) =>
        error ? refuseWith(...complaintAboutBody(error, maxBytes)) : check(),
      );
    // Null when there is no body at all; the check of the parameters reports that.
    if (typeIs(request, ["application/json"]) === false)
      return refuseWith(415, "Send the request as application/json.");
    readOther(request, response, (complaint) => (complaint ? refuseWith(...complaint) : check()));
  };
}

/** Reads the less common bodies: long ones, compressed ones, and those without a length. */
function otherBodies(maxBytes: number, heavyWork: HeavyWork): ReadBody {
  const isToldBy = ({ headers }: Request) =>
    headers["content-length"] !== undefined && (headers["content-encoding"] ?? "identity") === "identity";
  const type = "application/json";
  const parseUntold = json({ limit: Math.min(maxBytes, maxUntoldBytes), type });
  const parse = json({ limit: maxBytes, type });
  const readText = text({ limit: maxBytes, type });
  return (request, response, done) => {
    if (!isToldBy(request))
      return parseUntold(request, response, (error?: unknown) =>
        done(error ? complaintAboutUntold(error, maxBytes) : null),
      );
    const isLong = Number(request.headers["content-length"]) >= longBodyBytes;
    (isLong ? readText : parse)(request, response, (error?: unknown) => {
      if (error) return done(complaintAboutBody(error, maxBytes));
      if (isLong) void parseLong(request, heavyWork).then(done);
      else done(null);
    });
  };
}

/** Parses a long text into `request.body` when its turn comes. */
async function parseLong(request: Request, heavyWork: HeavyWork): Promise<Complaint | null> {
  const body = request.body as string;
  const complaint = await heavyWork.run((): Complaint | "read" => {
    if (hasMoreBrackets(body, maxBrackets))
      return [400, `The body has more than ${maxBrackets} lists and objects.`];
    try {
      request.body = JSON.parse(body) as unknown;
      return "read";
    } catch {
      return [400, "The body is not valid JSON."];
    }
  });
  if (complaint === "read") return null;
  return complaint ?? [503, "Too many long requests wait to be read. Send it again in a little while."];
}

/** Whether a text, if it is JSON, has more lists and objects than that. The content of strings doesn't count. */
function hasMoreBrackets(body: string, max: number): boolean {
  const [quote, backslash, list, object] = [0x22, 0x5c, 0x5b, 0x7b];
  let count = 0;
  let isString = false;
  for (let at = 0; at < body.length && count <= max; at++) {
    const code = body.charCodeAt(at);
    if (code === quote) isString = !isString;
    else if (isString) at += code === backslash ? 1 : 0;
    else if (code === list || code === object) count++;
  }
  return count > max;
}

function complaintAboutUntold(error: unknown, maxBytes: number): Complaint {
  const complaint = complaintAboutBody(error, maxBytes);
  if (complaint[0] !== 413) return complaint;
  return [
    413,
    `A body of more than ${maxUntoldBytes} bytes needs a Content-Length, and no Content-Encoding.`,
  ];
}

/** Status and message for an error of Express's body parser. */
function complaintAboutBody(error: unknown, maxBytes: number): Complaint {
  const status = error instanceof Error && "status" in error ? error.status : 400;
  if (status === 413) return [413, `The body has more than ${maxBytes} bytes.`];
  if (status === 415) return [415, "The charset or encoding of the body is not supported. Use UTF-8."];
  return [400, "The body is not valid JSON."];
}
