import type { PgCodecAttribute } from "postgraphile/@dataplan/pg";
import { maximalPageSize } from "../connections.ts";
import { tagLines, tagText } from "./tags.ts";

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
export const defaultBound: PayloadBound = { atMost: maximalPageSize, perLine: new Map() };

/**
 * Reads the tags `@perLine lines 2`, at most two rows for each element of the input's `lines`, and `@atMost 500` of a
 * column of a payload. With both it is the sum.
 */
export function payloadBound(
  attribute: PgCodecAttribute,
  fieldName: (column: string) => string,
): PayloadBound {
  const perLine = new Map(
    tagLines(attribute, "perLine").map((line) => {
      const [column = "", rows = "1"] = line.split(/\s+/);
      return [fieldName(column), numberOf("perLine", rows)] as const;
    }),
  );
  const atMost = tagText(attribute, "atMost");
  if (atMost === undefined) return perLine.size > 0 ? { atMost: 0, perLine } : defaultBound;
  return { atMost: numberOf("atMost", atMost), perLine };
}

function numberOf(tag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`@${tag} ${text}: that is no number of rows`);
  return Number(text);
}
