import { apiError } from "../../src/errors/api-error.ts";

const form =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

function refuse(text: unknown): never {
  const shown = JSON.stringify(String(text).slice(0, 80));
  throw apiError(
    "BAD_USER_INPUT",
    `${shown} is not a date and time of the form YYYY-MM-DDTHH:MM:SS+00:00 (RFC 3339, with offset or Z).`,
  );
}

/**
 * Parses a date and time of RFC 3339: with an offset or Z, with up to nine decimals of a second, as clocks print them.
 * Postgres keeps six; the rest is cut off, so that no time becomes a later one.
 *
 * @returns the same time in UTC, in the one spelling that we send to Postgres
 * @throws BAD_USER_INPUT for other texts, impossible dates such as 2026-02-30, and times outside the years 1 to 9999
 */
export function parseDateTime(text: unknown): string {
  const match = typeof text === "string" ? form.exec(text) : null;
  if (!match) return refuse(text);
  const [, year, month, day] = match.map(Number);
  const [, , , , hour, minute, second, decimals = "", offset] = match;
  // Date.UTC turns 30 February into a day in March; a changed day reveals that.
  const date = new Date(Date.UTC(2000, month! - 1, day));
  date.setUTCFullYear(year!, month! - 1, day);
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day!) return refuse(text);
  const moment = new Date(`${match[0].slice(0, 10)}T${hour}:${minute}:${second}${offset}`);
  const utcYear = moment.getUTCFullYear();
  if (Number.isNaN(utcYear) || utcYear < 1 || utcYear > 9999) return refuse(text);
  const fraction = decimals.slice(0, 6).replace(/0+$/, "").padEnd(3, "0");
  return moment.toISOString().replace("000Z", `${fraction}Z`);
}
