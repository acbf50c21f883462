import { isDeepStrictEqual } from "node:util";

/** Fields whose values are numbers, though peers write them as texts. */
const numbers = new Set(["amountTotal", "unitPrice"]);
const times = new Set(["createdAt", "orderDateTime"]);
/** What comes before the uuid in ids of the service. */
const idPrefix = /^gid:\/\/service\/[A-Za-z]+\//;

/**
 * An answer in the form in which answers of different contestants are compared: ids as uuids, decimal numbers as
 * numbers, times in UTC with milliseconds.
 */
function comparable(value: unknown, field = ""): unknown {
  if (Array.isArray(value)) return value.map((entry) => comparable(entry, field));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, comparable(part, name)]));
  }
  if (typeof value !== "string") return value;
  if (numbers.has(field)) return Number(value);
  if (times.has(field)) return new Date(value).toISOString();
  return value.replace(idPrefix, "");
}

/** Whether two answers say the same. */
export function saysTheSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(comparable(one), comparable(other));
}

/** The first place where two answers differ, in words; null when they say the same. */
export function difference(one: unknown, other: unknown, path = "answer"): string | null {
  const [left, right] = [comparable(one), comparable(other)];
  if (isDeepStrictEqual(left, right)) return null;
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null;
  if (isObject(left) && isObject(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const found = isDeepStrictEqual(left[key], right[key])
        ? null
        : difference(left[key], right[key], `${path}.${key}`);
      if (found) return found;
    }
  }
  return `${path} is ${inShort(left)} instead of ${inShort(right)}`;
}

const inShort = (value: unknown): string => (JSON.stringify(value) ?? "missing").slice(0, 200);
