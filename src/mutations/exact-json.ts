/** A number that JavaScript can't hold, as JSON text. `JSON.stringify` writes it as it came. */
interface RawNumber {
  rawJSON: string;
}

// The types of TypeScript don't have these yet
const json = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Texts that may hold such a number: one of many digits, or one that ends with a zero behind the point. */
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

/** A value, or the digits of a number that JavaScript can't hold. */
export const withDigits = (value: unknown): unknown => (json.isRawJSON(value) ? value.rawJSON : value);
