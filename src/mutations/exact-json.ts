/** A number that JavaScript can't represent exactly, as JSON text. `JSON.stringify` writes it unchanged. */
interface RawNumber {
  rawJSON: string;
}

// TypeScript's types don't have these yet
const json = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Matches texts that may contain such a number: one with many digits, or with a trailing zero after the decimal point. */
const mayBeInexact = /\d[\d.]{15}|\.\d*0\b/;

/** Parses JSON without losing a digit of a number. */
export function parseExactly(text: string): unknown {
  if (!mayBeInexact.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source
      ? json.rawJSON(source)
      : value,
  );
}

/** Returns a value, or the digits of a number that JavaScript can't represent. */
export const withDigits = (value: unknown): unknown => (json.isRawJSON(value) ? value.rawJSON : value);
