import type { GraphQLError } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import type { Limits } from "./limits.ts";

/** How much an operation asks for. */
export interface OperationSize {
  /** Fields below one another. */
  depth: number;
  /** Relations and lists, fragments counted each time they are spread. */
  relations: number;
  /**
   * Rows that the answer can hold, reckoned from `first` and inputs; what lists of inputs have in them; and comparisons of
   * filters, as many rows as they weigh.
   */
  rows: number;
  /** Fields of the row that it is about which are no relations. */
  values: number;
  mutations: number;
}

const pointsPerMutation = 10;
const rowsPerPoint = 10;

/**
 * What an operation costs, in points: one for each relation or list, and for every ten rows that it gives or can be
 * answered, ten for each mutation.
 */
export function costOf({
  relations,
  rows,
  mutations,
}: Pick<OperationSize, "relations" | "rows" | "mutations">): number {
  return Math.max(1, relations + Math.ceil(rows / rowsPerPoint) + mutations * pointsPerMutation);
}

/** Why an operation asks for too much; null when it doesn't. */
export function refusalOf(size: OperationSize, limits: Limits): GraphQLError | null {
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

/** Why an operation of this cost is refused; null when it isn't. */
export function refusalOfCost(cost: number, limits: Limits): GraphQLError | null {
  if (cost <= limits.cost) return null;
  const message = `The operation costs ${cost} points; ${limits.cost} are allowed. Ask for smaller pages.`;
  return apiError("QUERY_TOO_COMPLEX", message, { cost, maximum: limits.cost });
}
