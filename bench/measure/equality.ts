import { isDeepStrictEqual } from "node:util";

/** Numeric fields that peers write as texts. */
const numbers = new Set(["amountTotal", "unitPrice"]);
const times = new Set(["createdAt", "orderDateTime"]);
/** The part before the uuid in ids of the service. */
const idPrefix = /^gid:\/\/service\/[A-Za-z]+\//;

/**
 * Converts a response to a form that is comparable between contestants: ids as uuids, decimals as numbers, times in UTC
 * with milliseconds.
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

/** Whether two responses are equal in comparable form. */
export function isSameAnswer(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(comparable(one), comparable(other));
}

/** Describes the first difference between two responses; null if they are equal. */
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
