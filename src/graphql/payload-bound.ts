import { maxPageSize } from "./page-size.ts";

/** How many rows a list of a payload can have, by the input of its mutation. */
export interface PayloadBound {
  /** Whatever the input says. */
  atMost: number;
  /** For each element of lists of the input, by the names of its fields. */
  perLine: ReadonlyMap<string, number>;
}

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    payloadBound?: PayloadBound;
  }
}

/** What a list has that says nothing about itself: as many rows as a page can have. */
export const defaultBound: PayloadBound = { atMost: maxPageSize, perLine: new Map() };
