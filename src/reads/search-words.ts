import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { apiError } from "../errors/api-error.ts";
import { checkText, escaped } from "./filter-operators.ts";

/** The most characters of a text that is searched for. */
const maxCharacters = 100;
/** The functions of the schema `search` have a condition for each. */
const maxWords = 6;
/** Of one word: by so many Postgres finds rows in the index. */
const minCharacters = 3;

/**
 * The patterns of LIKE for the words of a text that is searched for.
 *
 * @throws BAD_USER_INPUT for a text that is too short or too long
 */
export function readSearch(text: string): string[] {
  checkText(text);
  if (text.length > maxCharacters)
    throw apiError("BAD_USER_INPUT", `search: more than ${maxCharacters} characters.`);
  const words = text.normalize("NFC").trim().split(/\s+/);
  if (words.length > maxWords) throw apiError("BAD_USER_INPUT", `search: more than ${maxWords} words.`);
  if (!words.some((word) => (word.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= minCharacters))
    throw apiError("BAD_USER_INPUT", `search: a word must have at least ${minCharacters} letters or digits.`);
  return words.map((word) => `%${escaped(word)}%`);
}

/**
 * The condition that a search finds a row.
 *
 * @param search the function that finds ids, which Postgres calls once for a statement
 * @param patterns the array of patterns
 */
export const foundBy = (search: SQL, alias: SQL, patterns: SQL): SQL =>
  sql`${alias}.id = any((select ${search}(${patterns}))::uuid[])`;
