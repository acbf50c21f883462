import { getVariableValues } from "postgraphile/graphql";
import { findOperation } from "../../../graphql/operation.ts";
import { shortJson } from "../../../lib/json-size.ts";
import { refuse, statusOfRefusal } from "../../answers.ts";
import type { Execution } from "../../locals.ts";
import type { Middleware, Request } from "../../pipeline.ts";
import type { UnreadAnswers } from "../limits/unread-answers.ts";
import { sendWhole } from "./send-data.ts";

/** Lets the requested version execute and answer the operation. */
export function executeOperation(unread: UnreadAnswers): Middleware<"caller" | "execution" | "served"> {
  return async (request, response) => {
    const { execution, served } = response.locals;
    const fault = faultOfLongVariables(request, execution);
    if (fault !== null) return refuse(request, response, statusOfRefusal(request), "BAD_USER_INPUT", fault);
    const answer = await served.answer(request, response);
    if (!response.closed) sendWhole(request, response, answer, unread);
  };
}

/**
 * Returns the first fault of variables that came in a long body; null when they are right, or the body is short. Grafast
 * would report fifty, each with the whole value: a quarter of a second for an object with 9,000 unknown fields.
 */
function faultOfLongVariables(
  { headers }: Request,
  { schema, document, operationName, variableValues }: Execution,
): string | null {
  if (Number(headers["content-length"]) < shortJson) return null;
  const { operation } = findOperation(document, operationName);
  const { errors } = getVariableValues(schema, operation?.variableDefinitions ?? [], variableValues ?? {}, {
    maxErrors: 1,
  });
  return errors?.[0]?.message ?? null;
}
