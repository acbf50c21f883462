import { raw } from "express";
import typeIs from "type-is";
import { declaredCharset, hasUtf8Escapes, textOf, UnreadableText } from "../../lib/charset.ts";
import { refuse } from "../answers.ts";
import { isPlainJson, readPlainJson, TooLaborious } from "../plain-json.ts";
import type { WorkTurns } from "../../lib/loop-turns.ts";
import type { Spending } from "./spend-points.ts";
import type { Request, Middleware } from "../pipeline.ts";

/**
 * Bytes of a body whose size isn't known beforehand, because it has no length or is compressed: no points were taken
 * for it.
 */
const maxUntoldBytes = 32_768;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Levels of lists and objects in variables. What reads them calls itself for each level. */
const maxDepth = 200;

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  // Object.values takes three times as long for an object of a new shape
  for (const name in value) if (isDeeperThan(depth - 1, (value as Record<string, unknown>)[name])) return true;
  return false;
}

/** The parameters of a GraphQL request. */
export interface GraphqlBody {
  /** The document; empty until it is found by its hash. */
  query: string;
  operationName: string | null | undefined;
  variables: Record<string, unknown> | null | undefined;
  /** The SHA-256 by which the client names the document. */
  sha256?: string | undefined;
}

/** The parameters of a request whose body {@link readGraphqlBody} has read. */
export const graphqlBodyOf = (request: Request): GraphqlBody => request.body as GraphqlBody;

/** What is wrong with the parameters of a GraphQL request; null when nothing is. */
function complaintAbout(given: Record<string, unknown>): string | null {
  const { query, operationName, variables, extensions } = given;
  if (extensions != null && !isObject(extensions)) return "“extensions” must be an object.";
  const sha256 = hashIn(given);
  if (sha256 === null) return hashComplaint;
  if (typeof query !== "string" && (query != null || sha256 === undefined))
    return "“query” must be a string: the GraphQL document.";
  if (operationName != null && typeof operationName !== "string") return "“operationName” must be a string.";
  if (variables != null && !isObject(variables)) return "“variables” must be an object.";
  if (isDeeperThan(maxDepth, variables)) return `“variables” is nested deeper than ${maxDepth} levels.`;
  return null;
}

const hashComplaint =
  "A document is named by its SHA-256: 64 hexadecimal digits, as “extensions.persistedQuery.sha256Hash” or as “documentId”.";

/**
 * The SHA-256 by which parameters name the document: as Apollo's persisted queries do, or, in place of the text, as the
 * persisted documents of GraphQL over HTTP. Null when it has the wrong form, undefined when there is none.
 */
function hashIn({
  query,
  extensions,
  id,
  documentId = id,
}: Record<string, unknown>): string | null | undefined {
  const { persistedQuery } = (extensions ?? {}) as { persistedQuery?: { sha256Hash?: unknown } | null };
  if (persistedQuery == null && (query != null || documentId == null)) return undefined;
  const given = persistedQuery == null ? documentId : persistedQuery.sha256Hash;
  const found = typeof given === "string" ? /^(?:sha256:)?([0-9a-f]{64})$/i.exec(given) : null;
  return found ? found[1]!.toLowerCase() : null;
}

/** Returns the value of a parameter that is an object. PHP writes an empty object as an empty list: it counts as left out. */
const withoutEmptyList = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 0 ? undefined : value;

/** The parameters in the address of a GET request; a text says what is wrong with them. */
function parametersIn(url: string): Record<string, unknown> | string {
  const { search, searchParams: given } = new URL(url, "http://here.invalid");
  if (!hasUtf8Escapes(search)) return "The address has escapes that are not of UTF-8.";
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

/** Answers why a body is refused. */
type Complaint = [status: number, message: string];

/**
 * Reads the parameters by GraphQL over HTTP, the body or those of the address, into `request.body`.
 *
 * @param maxBytes longest body in bytes
 * @param turns of clients, for bodies that take long
 */
export function readGraphqlBody(maxBytes: number, spending: Spending, turns: WorkTurns): Middleware {
  // Compressed, of unknown length or in another charset
  const limit = Math.min(maxBytes, maxUntoldBytes);
  const readOther = raw({ limit, type: "application/json" });
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
      if (request.body === null || !["object", "undefined"].includes(typeof request.body))
        return refuseWith([400, "The body is no JSON object."]);
      const body = (request.body ?? {}) as Record<string, unknown>;
      const variables = withoutEmptyList(body.variables);
      const given = { ...body, variables, extensions: withoutEmptyList(body.extensions) };
      const complaint = complaintAbout(given);
      if (complaint) return refuseWith([400, complaint]);
      // Grafserv gets nothing else, such as its experimental parameters.
      const { query, operationName } = given as Partial<GraphqlBody>;
      const sha256 = hashIn(given) ?? undefined;
      request.body = { query: query ?? "", operationName, variables, sha256 };
      next();
    };
    const inTurn = (work: () => void) =>
      turns.take(response.locals.caller!.credentialId, () => {
        if (!response.closed) work();
      });
    if (request.method === "GET") {
      const found = parametersIn(request.url!);
      if (typeof found === "string") return refuseWith([400, found]);
      request.body = found;
      return check();
    }
    if (isPlainJson(request, maxBytes))
      return readPlainJson(
        request,
        (newMembers, parse) => spending.forMembers(request, response, newMembers, () => inTurn(parse)),
        (error) => (error ? refuseWith(complaintAboutBody(error, maxBytes)) : check()),
      );
    // Null when there is no body at all; the check of the parameters reports that.
    if (typeIs(request, ["application/json"]) === false)
      return refuseWith([415, "Send the request as application/json."]);
    readOther(request, response, (failure?: unknown) =>
      inTurn(() => {
        const error = failure ?? parseOther(request);
        if (error) refuseWith(complaintAboutOther(request, error, maxBytes));
        else check();
      }),
    );
  };
}

/** Parses JSON in the charset that its type declares, and answers why it can't. Without a body there is nothing to parse. */
function parseOther(request: Request): unknown {
  if (!Buffer.isBuffer(request.body)) return null;
  try {
    request.body = JSON.parse(textOf(request.body, declaredCharset(request.headers["content-type"])));
    return null;
  } catch (error) {
    return error;
  }
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
  if (error instanceof UnreadableText) return [error.status, error.message];
  const status = error instanceof Error && "status" in error ? error.status : 400;
  if (status === 413) return [413, `The body has more than ${maxBytes} bytes.`];
  if (status === 415)
    return [415, "The Content-Encoding of the body is not supported. Use gzip, deflate or br."];
  return [400, "The body is not valid JSON."];
}
