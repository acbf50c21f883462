import type { ValueNode } from "postgraphile/graphql";
import { Kind, print } from "postgraphile/graphql";
import { apiError } from "../../src/errors/api-error.ts";
import { findKeyForm } from "../../src/graphql/key-forms.ts";
import { parseDateTime } from "./date-time.ts";

/** Turns a client's value into the text for Postgres; undefined if the value is invalid. */
export type ToText = (value: string) => string | undefined;

const readByForm =
  (typeName: string): ToText =>
  (text) =>
    findKeyForm(typeName)!.isValid(text) ? text : undefined;

const readByPattern =
  (pattern: RegExp): ToText =>
  (text) =>
    pattern.test(text) ? text : undefined;

function readBase64(text: string): string | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? `\\x${bytes.toString("hex")}` : undefined;
}

/** Functions that read the values of scalars whose values are texts, by scalar name. */
export const readers = {
  UUID: (text) => readByForm("uuid")(text.toLowerCase()),
  Date: readByForm("date"),
  Time: readByForm("time"),
  LocalDateTime: readByForm("timestamp"),
  DateTime: parseDateTime,
  Duration: readByForm("interval"),
  BigInt: readByForm("int8"),
  Decimal: readByPattern(/^-?\d{1,1000}(\.\d{1,1000})?$/),
  Base64: readBase64,
  InternetAddress: readByForm("inet"),
  MacAddress: readByPattern(/^([0-9a-f]{2}:){5}([0-9a-f]{2}:[0-9a-f]{2}:)?[0-9a-f]{2}$/i),
} satisfies Record<string, ToText>;

/** Whether one number is not greater than another, whatever their size. */
function areNumbersInOrder(lower: string, upper: string): boolean {
  const digits = Math.max(...[lower, upper].map((text) => (text.split(".")[1] ?? "").length));
  const [from, to] = [lower, upper].map((text) => {
    const [whole, decimals = ""] = text.split(".");
    return BigInt(whole! + decimals.padEnd(digits, "0"));
  });
  return from! <= to!;
}

/** Makes a function that reads a range: `[1,10)`, with either bound left out, or `empty`. */
export const rangeReader =
  (scalar: keyof typeof readers): ToText =>
  (text) => {
    if (text === "empty") return text;
    const [, begin, lower = "", upper = "", end] =
      /^([[(])([^,[\]()"]*),([^,[\]()"]*)([\])])$/.exec(text) ?? [];
    if (!begin) return undefined;
    const [from, to] = [lower, upper].map((bound) => (bound === "" ? "" : readBound(scalar, bound)));
    if (from === undefined || to === undefined) return undefined;
    const areInOrder = scalar === "BigInt" || scalar === "Decimal" ? areNumbersInOrder(from, to) : from <= to;
    return from === "" || to === "" || areInOrder ? `${begin}${from},${to}${end}` : undefined;
  };

/** Reads a bound of a range. Bounds are compared as texts, so years must have four digits. */
function readBound(scalar: keyof typeof readers, text: string): string | undefined {
  if (!/^-?\d+(\.\d+)?$/.test(text) && !/^\d{4}-\d\d-\d\d(T[^ ]*)?$/.test(text)) return undefined;
  return readers[scalar](text);
}

/**
 * Makes the functions that read values of one scalar.
 *
 * @param example a valid value, for the message
 * @throws BAD_USER_INPUT for a value of another form
 */
export function inputReader(scalar: string, read: ToText, example: string) {
  const parseValue = (value: unknown): string => {
    const isWhole = typeof value === "number" && Number.isSafeInteger(value);
    const text = read(
      isWhole || typeof value === "number" ? String(value) : typeof value === "string" ? value : "",
    );
    if (text !== undefined && (typeof value === "string" || takesNumbers.has(scalar))) return text;
    const shown = JSON.stringify(String(value).slice(0, 80));
    throw apiError("BAD_USER_INPUT", `${shown} is not a valid ${scalar}, such as ${example}.`);
  };
  const parseLiteral = (node: ValueNode): string =>
    // All digits of the literal: as a JavaScript number it may lose some
    parseValue(
      node.kind === Kind.STRING ||
        ((node.kind === Kind.INT || node.kind === Kind.FLOAT) && takesNumbers.has(scalar))
        ? node.value
        : print(node),
    );
  return { parseValue, parseLiteral };
}

const takesNumbers = new Set(["BigInt", "Decimal"]);

/** Maximum nesting of arrays and objects in JSON. Readers call themselves for each level, also in Postgres. */
const maxLevels = 200;

/**
 * Checks a JSON value from a variable or a file, and returns it. A number that is too large for floating point has become
 * infinite, and would be written as null.
 */
export function parseJson(value: unknown, levels = 0): unknown {
  if (value === Infinity || value === -Infinity)
    throw apiError("BAD_USER_INPUT", "A JSON number is too large for a floating-point number.");
  if (typeof value !== "object" || value === null) return value;
  if (levels === maxLevels)
    throw apiError("BAD_USER_INPUT", `JSON is nested deeper than ${maxLevels} levels.`);
  for (const part of Object.values(value)) parseJson(part, levels + 1);
  return value;
}
