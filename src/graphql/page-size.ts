import { apiError } from "../errors/api-error.ts";

/** Default number of entries on a page. */
export const defaultPageSize = 10;
/** Maximum number of entries on a page. */
export const maxPageSize = 250;

/** Returns a page's size, or the default. @throws BAD_USER_INPUT below 0, PAGE_SIZE_EXCEEDED above the maximum */
export function checkPageSize(size: number | null | undefined, argument = "first"): number {
  if (size === null || size === undefined) return defaultPageSize;
  if (size < 0) throw apiError("BAD_USER_INPUT", `\`${argument}\` is ${size}, but must not be negative.`);
  if (size > maxPageSize) {
    throw apiError(
      "PAGE_SIZE_EXCEEDED",
      `\`${argument}\` is ${size}, but a page has at most ${maxPageSize} entries.`,
      { maximum: maxPageSize },
    );
  }
  return size;
}

/** Maximum number of rows in a list of a payload, depending on the input of its mutation. */
export interface PayloadBound {
  /** For any input. */
  atMost: number;
  /** For each element of input lists, by field name. */
  perLine: ReadonlyMap<string, number>;
}

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    payloadBound?: PayloadBound;
    /** Rows that a call of the field counts as, beside its own. */
    rowsPerCall?: number;
  }
}

/** The bound of a list without tags: as many rows as a page. */
export const defaultBound: PayloadBound = { atMost: maxPageSize, perLine: new Map() };
