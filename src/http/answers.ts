import type { Request, Response } from "express";
import type { GraphQLError } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import type { ErrorCode } from "../errors/api-error.ts";
import { completed } from "../errors/client-errors.ts";

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

/** Says that the answer depends on a header. As `response.vary`, for headers that no other middleware names. */
export function addVary(response: Response, header: string): void {
  const before = response.getHeader("vary");
  response.setHeader("vary", before === undefined ? header : `${String(before)}, ${header}`);
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
  const type = request.accepts(graphqlMediaTypes) || graphqlMediaTypes[0]!;
  response.status(status).setHeader("content-type", type);
  response.setHeader("cache-control", "no-store");
  response.vary("Accept");
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
