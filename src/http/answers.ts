import accepts from "accepts";
import type { GraphQLError } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import type { ErrorCode } from "../errors/api-error.ts";
import { completed } from "../errors/client-errors.ts";
import { byHeader } from "./by-header.ts";
import type { Request, Response } from "./pipeline.ts";

/** Media types of GraphQL answers. Clients without a preference get the first, as GraphQL over HTTP demands. */
export const graphqlMediaTypes = [
  "application/json; charset=utf-8",
  "application/graphql-response+json; charset=utf-8",
];

/** The media type of GraphQL answers that a client prefers; false when it accepts none of them. */
export const mediaTypeFor = byHeader(
  (accept) => accepts({ headers: { accept } } as Request).type(graphqlMediaTypes) as string | false,
);

/** Adds a header to `Vary`. */
export function addVary(response: Response, header: string): void {
  const before = response.getHeader("vary") as string | undefined;
  if (before === undefined) response.setHeader("vary", header);
  else if (!before.split(", ").includes(header)) response.setHeader("vary", `${before}, ${header}`);
}

/** Status of an answer that refuses an operation, as GraphQL over HTTP demands: by the media type. */
export const statusOfRefusal = ({ headers }: Request): number =>
  headers.accept?.startsWith("application/json") ? 200 : 400;

/** Answers with JSON that is no GraphQL answer. */
export function sendJson(response: Response, status: number, value: unknown): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json; charset=utf-8");
  response.end(JSON.stringify(value));
}

/** Answers with GraphQL errors and no data, in the media type that the client prefers. */
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
  sendErrors(request, response, status, [completed(apiError(code, message), response.locals.requestId)]);
}
