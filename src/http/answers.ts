import accepts from "accepts";
import type { GraphQLError } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import type { ErrorCode } from "../errors/api-error.ts";
import { completeError } from "../errors/client-errors.ts";
import { cacheByHeader } from "./by-header.ts";
import type { Request, Response } from "./pipeline.ts";

/** Media types of GraphQL responses. Clients without a preference get the first, as GraphQL over HTTP requires. */
export const graphqlMediaTypes = [
  "application/json; charset=utf-8",
  "application/graphql-response+json; charset=utf-8",
];

/** Returns the media type of GraphQL responses that a client prefers; false when it accepts none of them. */
export const mediaTypeFor = cacheByHeader(
  (accept) => accepts({ headers: { accept } } as Request).type(graphqlMediaTypes) as string | false,
);

/** Adds a header to `Vary`. */
export function addVary(response: Response, header: string): void {
  const before = response.getHeader("vary") as string | undefined;
  if (before === undefined) response.setHeader("vary", header);
  else if (!before.split(", ").includes(header)) response.setHeader("vary", `${before}, ${header}`);
}

/** Returns the status for a refused operation, which depends on the media type, as GraphQL over HTTP requires. */
export const refusalStatus = ({ headers }: Request): number =>
  headers.accept?.startsWith("application/json") ? 200 : 400;

/** Sends JSON that isn't a GraphQL response. */
export function sendJson(response: Response, status: number, value: unknown): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json; charset=utf-8");
  response.end(JSON.stringify(value));
}

/** Sends GraphQL errors without data, in the media type that the client prefers. */
export function sendErrors(
  request: Request,
  response: Response,
  status: number,
  errors: readonly GraphQLError[],
  extensions?: Record<string, unknown>,
): void {
  response.locals.refusal = errors[0]?.extensions.code as ErrorCode | undefined;
  const type = mediaTypeFor(request.headers.accept ?? "*/*") || graphqlMediaTypes[0]!;
  response.statusCode = status;
  response.setHeader("content-type", type);
  response.setHeader("cache-control", "no-store");
  addVary(response, "Accept");
  response.end(JSON.stringify({ errors, extensions }));
}

/** Refuses a request before it reaches GraphQL. */
export function refuse(
  request: Request,
  response: Response,
  status: number,
  code: ErrorCode,
  message: string,
): void {
  sendErrors(request, response, status, [completeError(apiError(code, message), response.locals.requestId)]);
}
