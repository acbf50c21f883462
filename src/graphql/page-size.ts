import { apiError } from "../errors/api-error.ts";

/** Default number of entries on a page. */
export const defaultPageSize = 10;
/** Maximum number of entries on a page. */
export const maxPageSize = 250;

/** @throws BAD_USER_INPUT below 0, PAGE_SIZE_EXCEEDED above the maximum */
export function checkPageSize(first: number | null | undefined): number {
  if (first === null || first === undefined) return defaultPageSize;
  if (first < 0) throw apiError("BAD_USER_INPUT", `\`first\` is ${first}, but must not be negative.`);
  if (first > maxPageSize) {
    throw apiError(
      "PAGE_SIZE_EXCEEDED",
      `\`first\` is ${first}, but a page has at most ${maxPageSize} entries.`,
      {
        maximum: maxPageSize,
      },
    );
  }
  return first;
}
