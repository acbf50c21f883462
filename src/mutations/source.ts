import type {} from "postgraphile/graphql";
import type { MutationResult } from "../graphql/mutation-outcome.ts";

/** The description of a mutation's field. */
export interface MutationSource {
  /** The Postgres schema of the version. */
  version: string;
  /** The function's name. */
  operation: string;
  /** Whether its payload shows a new secret. */
  hasSecret: boolean;
  /** A field of the line, if calls with one line may join a group commit. Calls with the same value in it keep their order. */
  groupKeyField: string | undefined;
  /** Converts the input for `mutation.run`. @throws when a global id in it is invalid */
  encode(input: Record<string, unknown>): unknown;
  /** Converts a result of `mutation.run` to the values of the payload's columns, as clients read them. */
  decode(result: MutationResult): Record<string, unknown>;
}

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Set on the fields of mutations. */
    mutation?: MutationSource;
  }
}
