import { raw } from "express";
import typeIs from "type-is";
import { declaredCharset, hasUtf8Escapes, decodeBody, UnreadableText } from "../../../lib/charset.ts";
import type { EventLoopQueue } from "../../../lib/event-loop-queue.ts";
import { refuse } from "../../answers.ts";
import type { GraphqlBody } from "../../locals.ts";
import type { Middleware, Request } from "../../pipeline.ts";
import type { Spending } from "../limits/spend-points.ts";
import { isPlainJson, readPlainJson, BodyTooComplex } from "./plain-json.ts";

/**
 * The maximum number of bytes of a body whose size isn't known beforehand, because it has no length or is compressed: no
 * points were taken for it.
 */
const maxUnsizedBytes = 32_768;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The maximum depth of lists and objects in variables. Functions that read them are recursive. */
const maxDepth = 200;

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  // Object.values takes three times as long for an object of a new shape
  for (const name in value)
    if (isDeeperThan(depth - 1, (value as Record<string, unknown>)[name])) return true;
  return false;
}

const invalidHash =
  "The hash of a document must be its SHA-256: 64 hexadecimal digits, in “extensions.persistedQuery.sha256Hash” or “documentId”.";

/**
 * Returns the hash of the document: as in Apollo's persisted queries or, without a text, as in the persisted documents of
 * GraphQL over HTTP. Null when it has the wrong form, undefined when there is none.
 */
function readHash(
  { query, id, documentId = id }: Record<string, unknown>,
  extensions: Record<string, unknown> | null | undefined,
): string | null | undefined {
  const { persistedQuery } = (extensions ?? {}) as { persistedQuery?: { sha256Hash?: unknown } | null };
  if (persistedQuery == null && (query != null || documentId == null)) return undefined;
  const given = persistedQuery == null ? documentId : persistedQuery.sha256Hash;
  const found = typeof given === "string" ? /^(?:sha256:)?([0-9a-f]{64})$/i.exec(given) : null;
  return found ? found[1]!.toLowerCase() : null;
}

/** Returns a parameter's value, or undefined for an empty list: PHP encodes an empty object as one. */
const withoutEmptyList = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 0 ? undefined : value;

/** Returns the query parameters of a GET request, or a text that says what is wrong with them. */
function readQueryParameters(url: string): Record<string, unknown> | string {
  const { search, searchParams: given } = new URL(url, "http://here.invalid");
  if (!hasUtf8Escapes(search)) return "The address has percent-encoded characters that aren't UTF-8.";
  const parameters: Record<string, unknown> = {};
  for (const name of ["query", "operationName", "variables", "extensions", "documentId", "id"]) {
    const [text, ...others] = given.getAll(name);
    if (others.length > 0) return `“${name}” is given more than once.`;
    if (text === undefined) continue;
    const isJson = name === "variables" || name === "extensions";
    try {
      parameters[name] = isJson ? JSON.parse(text) : text;
    } catch {
      return `“${name}” is not valid JSON.`;
    }
  }
  return parameters;
}

/** Returns the parameters of a GraphQL request, or a text that says what is wrong with them. */
function parseParameters(value: unknown): GraphqlBody | string {
  if (Array.isArray(value)) return "A request has one operation; batches aren't supported.";
  if (value !== undefined && !isObject(value)) return "The body is not a JSON object.";
  const given: Record<string, unknown> = value ?? {};
  const { query, operationName } = given;
  const [variables, extensions] = [withoutEmptyList(given.variables), withoutEmptyList(given.extensions)];
  if (extensions != null && !isObject(extensions)) return "“extensions” must be an object.";
  const sha256 = readHash(given, extensions);
  if (sha256 === null) return invalidHash;
  if (typeof query !== "string" && (query != null || sha256 === undefined))
    return "“query” must be a string: the GraphQL document.";
  if (operationName != null && typeof operationName !== "string") return "“operationName” must be a string.";
  if (variables != null && !isObject(variables)) return "“variables” must be an object.";
  if (isDeeperThan(maxDepth, variables)) return `“variables” is nested deeper than ${maxDepth} levels.`;
  return { query: typeof query === "string" ? query : "", operationName, variables, sha256 };
}

/** The status and message for a refused body. */
type BodyError = [status: number, message: string];

/**
 * Reads the parameters of GraphQL over HTTP, from the body or the URL.
 *
 * @param maxBytes the maximum length of a body in bytes
 * @param turns in which clients parse long bodies
 */
export function readGraphqlBody(
  maxBytes: number,
  spending: Spending,
  turns: EventLoopQueue,
): Middleware<"caller" | "merchantPlan", "body"> {
  // Compressed, of unknown length or in another charset
  const limit = Math.min(maxBytes, maxUnsizedBytes);
  const readOther = raw({ limit, type: "application/json" });
  return (request, response, next) => {
    const { credentialId } = response.locals.caller;
    const refuseWith = ([status, message]: BodyError) => {
      const answer = () => refuse(request, response, status, "BAD_USER_INPUT", message);
      // The rest of such a body must still be read after the response
      if (status === 413) spending.refuseSlowly(credentialId, answer);
      else answer();
    };
    const check = (value: unknown) => {
      const body = parseParameters(value);
      if (typeof body === "string") return refuseWith([400, body]);
      next({ body });
    };
    const inTurn = (work: () => void) =>
      turns.take(credentialId, () => {
        if (!response.closed) work();
      });
    if (request.method === "GET") {
      const found = readQueryParameters(request.url!);
      return typeof found === "string" ? refuseWith([400, found]) : check(found);
    }
    if (isPlainJson(request, maxBytes))
      return readPlainJson(
        request,
        (newMembers, parse) => spending.forMembers(request, response, newMembers, () => inTurn(parse)),
        (error, value) => (error ? refuseWith(explainBodyError(error, maxBytes)) : check(value)),
      );
    // Null when there is no body at all; the check of the parameters reports that
    if (typeIs(request, ["application/json"]) === false)
      return refuseWith([415, "Send the request as application/json."]);
    readOther(request, response, (failure?: unknown) =>
      inTurn(() => {
        let value: unknown;
        try {
          if (failure) throw failure as Error;
          value = parseOther(request);
        } catch (error) {
          return refuseWith(explainOtherError(request, error, maxBytes));
        }
        check(value);
      }),
    );
  };
}

/** Parses JSON in the charset that its type declares. Returns undefined without a body. */
function parseOther({ body, headers }: Request): unknown {
  return Buffer.isBuffer(body)
    ? JSON.parse(decodeBody(body, declaredCharset(headers["content-type"])))
    : body;
}

function explainOtherError({ headers }: Request, error: unknown, maxBytes: number): BodyError {
  const complaint = explainBodyError(error, maxBytes);
  if (complaint[0] !== 413 || Number(headers["content-length"]) > maxBytes) return complaint;
  const needed = "a Content-Length, UTF-8 and no Content-Encoding";
  return [413, `A body of more than ${maxUnsizedBytes} bytes needs ${needed}.`];
}

/** Returns the status and message for an error of the body, ours or of Express's body parser. */
function explainBodyError(error: unknown, maxBytes: number): BodyError {
  if (error instanceof BodyTooComplex) return [400, error.message];
  if (error instanceof UnreadableText) return [error.status, error.message];
  const status = error instanceof Error && "status" in error ? error.status : 400;
  if (status === 413) return [413, `The body has more than ${maxBytes} bytes.`];
  if (status === 415)
    return [415, "The Content-Encoding of the body is not supported. Use gzip, deflate or br."];
  return [400, "The body is not valid JSON."];
}
