import type { DocumentNode, GraphQLError, GraphQLSchema } from "postgraphile/graphql";
import type { Variables } from "./operation.ts";
import { costOfIntrospection, introspectionOf, refusalOfIntrospection } from "./introspection.ts";
import type { Limits } from "./limits.ts";
import { operationSize } from "./operation-size.ts";
import { costOf, refusalOf, refusalOfCost } from "./size.ts";

/** The cost of an operation in points, and why it is too large; null when it isn't. */
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
  const introspection = introspectionOf(schema, document, operationName, variables);
  const cost = costOf(size) + costOfIntrospection(introspection);
  const refusal =
    refusalOf(size, limits) ?? refusalOfIntrospection(introspection) ?? refusalOfCost(cost, limits);
  return { cost, refusal };
}
