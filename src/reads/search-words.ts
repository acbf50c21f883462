import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { apiError } from "../errors/api-error.ts";
import { checkText, escapeLikePattern } from "./filter-operators.ts";

/** The most characters of a search. */
const maxCharacters = 100;
/** The most words of a search. The functions of the schema `search` have one condition per word. */
const maxWords = 6;
/** One word of a search must have this many letters and digits, so that Postgres can use the trigram index. */
const minCharacters = 3;

/**
 * Returns LIKE patterns for the words of a search.
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
  return words.map((word) => `%${escapeLikePattern(word)}%`);
}

/**
 * Returns the condition that a search finds a row.
 *
 * @param search the function that returns ids; Postgres calls it once per statement
 */
export const buildSearchCondition = (search: SQL, alias: SQL, patterns: SQL): SQL =>
  sql`${alias}.id = any((select ${search}(${patterns}))::uuid[])`;
