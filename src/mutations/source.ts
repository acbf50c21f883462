import type {} from "postgraphile/graphql";
import type { MutationResult } from "../graphql/mutation-outcome.ts";

/** What is known about the field of a mutation. */
export interface MutationSource {
  /** The Postgres schema of the version. */
  version: string;
  /** The function's name. */
  operation: string;
  /** Whether its payload shows a new secret. */
  hasSecret: boolean;
  /**
   * Of one whose calls with one line may be made with others: a field of the line. Calls with the same value of it keep their order.
   */
  together: string | undefined;
  /** From the input to that of `mutation.run`. @throws when an id in it is none */
  encode(input: Record<string, unknown>): unknown;
  /** From an answer of `mutation.run` to the values of the payload's columns, as clients read them. */
  decode(result: MutationResult): Record<string, unknown>;
}

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Of a mutation. */
    mutation?: MutationSource;
  }
}
