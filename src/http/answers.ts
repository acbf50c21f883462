import accepts from "accepts";
import type { GraphQLError } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import type { ErrorCode } from "../errors/api-error.ts";
import { completed } from "../errors/client-errors.ts";
import type { Request, Response } from "./pipeline.ts";

declare global {
  namespace Express {
    interface Locals {
      /** Code of the error that the request was refused with. */
      refusal?: ErrorCode | undefined;
    }
  }
}

/** Media types of GraphQL answers. The first is what clients get that don't care, as GraphQL over HTTP asks for. */
export const graphqlMediaTypes = [
  "application/json; charset=utf-8",
  "application/graphql-response+json; charset=utf-8",
];

/** The media type of GraphQL answers that a client prefers; false when it takes none of them. */
export const mediaTypeFor = (request: Request): string | false =>
  accepts(request).type(graphqlMediaTypes) as string | false;

/** Says that the answer depends on a header. */
export function addVary(response: Response, header: string): void {
  const before = response.getHeader("vary");
  if (before === undefined) response.setHeader("vary", header);
  else if (!String(before).split(", ").includes(header))
    response.setHeader("vary", `${String(before)}, ${header}`);
}

/** Answers with JSON that is no answer of GraphQL. */
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
  const type = mediaTypeFor(request) || graphqlMediaTypes[0]!;
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
