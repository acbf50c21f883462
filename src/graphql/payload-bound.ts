import { maxPageSize } from "./page-size.ts";

/** How many rows a list of a payload can have, depending on the input of its mutation. */
export interface PayloadBound {
  /** For any input. */
  atMost: number;
  /** For each element of input lists, by field name. */
  perLine: ReadonlyMap<string, number>;
}

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    payloadBound?: PayloadBound;
  }
}

/** The bound of a list without tags: as many rows as a page. */
export const defaultBound: PayloadBound = { atMost: maxPageSize, perLine: new Map() };
