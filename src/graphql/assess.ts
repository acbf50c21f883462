import type { DocumentNode, GraphQLError, GraphQLSchema } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import type { Variables } from "./operation.ts";
import { computeIntrospectionCost, measureIntrospection, checkIntrospection } from "./introspection.ts";
import type { Limits } from "./limits.ts";
import type { OperationSize } from "./operation-size.ts";
import { operationSize } from "./operation-size.ts";

/** The cost of an operation in points, and the error if it is too large. */
export interface Assessment {
  cost: number;
  refusal: GraphQLError | null;
}

/** Measures an operation before it is planned. */
export function assess(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
  limits: Limits,
): Assessment {
  const size = operationSize(schema, document, operationName, variables);
  const introspection = measureIntrospection(schema, document, operationName, variables);
  const cost = computeCost(size) + computeIntrospectionCost(introspection);
  const refusal = checkLimits(size, limits) ?? checkIntrospection(introspection) ?? checkCost(cost, limits);
  return { cost, refusal };
}

export const pointsPerMutation = 10;
export const rowsPerPoint = 10;

/**
 * Returns the cost of an operation in points: one for each relation or list, one for every ten rows of output or input, ten
 * for each mutation.
 */
export function computeCost({
  relations,
  rows,
  mutations,
}: Pick<OperationSize, "relations" | "rows" | "mutations">): number {
  return Math.max(1, relations + Math.ceil(rows / rowsPerPoint) + mutations * pointsPerMutation);
}

/** Returns an error if an operation exceeds a limit, else null. */
export function checkLimits(size: OperationSize, limits: Limits): GraphQLError | null {
  const { depth, relations, mutations } = size;
  if (depth > limits.depth) {
    const message = `The operation is ${depth} fields deep; ${limits.depth} are allowed.`;
    return apiError("QUERY_TOO_DEEP", message, { depth, maximum: limits.depth });
  }
  if (relations > limits.relations) {
    const message = `The operation follows ${relations} relations and lists; ${limits.relations} are allowed.`;
    return apiError("QUERY_TOO_COMPLEX", message, { relations, maximum: limits.relations });
  }
  if (mutations > limits.mutations) {
    const message = `The operation has ${mutations} mutations; ${limits.mutations} are allowed.`;
    return apiError("QUERY_TOO_COMPLEX", message, { mutations, maximum: limits.mutations });
  }
  return null;
}

/** Returns an error if an operation of this cost is too expensive, else null. */
export function checkCost(cost: number, limits: Limits): GraphQLError | null {
  if (cost <= limits.cost) return null;
  const message = `The operation costs ${cost} points; ${limits.cost} are allowed. Request smaller pages.`;
  return apiError("QUERY_TOO_COMPLEX", message, { cost, maximum: limits.cost });
}
