import type { DocumentNode, GraphQLError, GraphQLSchema } from "postgraphile/graphql";
import type { Variables } from "./operation.ts";
import { costOfIntrospection, introspectionOf, refusalOfIntrospection } from "./introspection.ts";
import type { Limits } from "./limits.ts";
import { operationSize } from "./operation-size.ts";
import { costOf, refusalOf, refusalOfCost } from "./size.ts";

/** What an operation costs in points, and why it asks for too much; null when it doesn't. */
export interface Assessment {
  cost: number;
  refusal: GraphQLError | null;
}

/** Reckons what an operation asks for, before anything of it is planned. */
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
