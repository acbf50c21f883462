import type { PgCodecAttribute } from "postgraphile/@dataplan/pg";
import type { PayloadBound } from "../../src/graphql/payload-bound.ts";
import { defaultBound } from "../../src/graphql/payload-bound.ts";
import { tagLines, tagText } from "./tags.ts";

/**
 * Reads the tags of a payload's column `@perLine lines 2`, at most two rows for each element of the input's `lines`,
 * and `@atMost 500`. With both it is the sum.
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
