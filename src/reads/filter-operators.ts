import type { PgCodec } from "postgraphile/@dataplan/pg";
import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { apiError } from "../errors/api-error.ts";
import { getElementCodec } from "./codecs.ts";
import { momentOperators } from "./moment-operators.ts";
import type { Operator, Parameter } from "./operator.ts";

const createParameter = (value: unknown, codec: PgCodec): Parameter => ({
  value: codec.toPg(value),
  type: codec.sqlType,
});
const createTextParameter = (text: string): Parameter => createParameter(text, TYPES.text);

const createComparison = (operator: SQL, description: string): Operator => ({
  operand: "value",
  description,
  parameters: (value, codec) => [createParameter(value, codec as PgCodec)],
  condition: (column, [value]) => sql`${column} ${operator} ${value!}`,
});

const createListOperator = (description: string, condition: Operator["condition"]): Operator => ({
  operand: "list",
  description,
  parameters: (values, codec) => [createParameter(values, listOfCodec(codec))],
  condition,
});

/** Returns a text with the three special characters of LIKE escaped. */
export const escapeLikePattern = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

/**
 * The most characters of a text for `contains` and `endsWith`. Postgres compares it at each position of a stored text, and ignores
 * time limits meanwhile: 20,000 characters kept a connection busy for half a minute.
 */
const maxContainedCharacters = 255;

const createLikeOperator = (pattern: (text: string) => string, description: string): Operator => ({
  operand: "value",
  description: `${description} Upper and lower case differ.`,
  parameters(operand) {
    const text = operand as string;
    if (text.length > maxContainedCharacters && Array.from(text).length > maxContainedCharacters)
      throw apiError("BAD_USER_INPUT", `The text can't be longer than ${maxContainedCharacters} characters.`);
    return [createTextParameter(pattern(escapeLikePattern(text)))];
  },
  condition: (column, [value]) => sql`${column} like ${value!}`,
});

/** Returns the first text by code points that is greater than all texts with this prefix; null if there is none. */
export function findPrefixEnd(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.length > 0) {
    const next = points.pop()! + 1;
    // Code points from U+D800 to U+DFFF are not characters
    if (next <= 0x10ffff) return String.fromCodePoint(...points, next === 0xd800 ? 0xe000 : next);
  }
  return null;
}

/**
 * Uses a range by code points instead of LIKE. With row-level security, Postgres uses indexes only for leakproof
 * operators, and LIKE is not one of them.
 */
const startsWith: Operator = {
  operand: "value",
  description: "Begins with this text. Upper and lower case differ.",
  parameters(operand) {
    const prefix = operand as string;
    const end = findPrefixEnd(prefix);
    return end === null
      ? [createTextParameter(prefix)]
      : [createTextParameter(prefix), createTextParameter(end)];
  },
  condition(column, [prefix, end]) {
    const begin = sql`${column} >= ${prefix!} collate "C"`;
    return end === undefined ? begin : sql`${begin} and ${column} < ${end} collate "C"`;
  },
};

/** Every operator by its name in GraphQL. */
export const operators = {
  equals: createComparison(sql`=`, "Exactly this value."),
  lt: createComparison(sql`<`, "Less than this value."),
  lte: createComparison(sql`<=`, "Less than or equal to this value."),
  gt: createComparison(sql`>`, "Greater than this value."),
  gte: createComparison(sql`>=`, "Greater than or equal to this value."),
  before: momentOperators.before,
  after: momentOperators.after,
  in: createListOperator(
    "Any of these values, at most 250. An empty list matches nothing.",
    (column, [values]) => sql`${column} = any(${values!})`,
  ),
  notIn: createListOperator(
    "None of these values, at most 250. A field that is null never matches, unless the list is empty.",
    (column, [values]) => sql`${column} <> all(${values!})`,
  ),
  within: createComparison(sql`<<=`, "This address, or one in this network."),
  overlaps: createComparison(sql`&&`, "Has values in common with this range."),
  contains: createLikeOperator((text) => `%${text}%`, "Holds this text somewhere."),
  startsWith,
  endsWith: createLikeOperator((text) => `%${text}`, "Ends with this text."),
  isNull: {
    operand: "flag",
    description: "`true` for fields that are null, `false` for those that are not.",
    parameters: () => [],
    condition: (column, _parameters, isNull) =>
      isNull ? sql`${column} is null` : sql`${column} is not null`,
  },
} satisfies Record<string, Operator>;

/** Replaces operators of moments, and of strings whose type has an equality operator outside the search path. */
export function withTypeEquality(
  offered: Record<string, Operator>,
  { name, extensions }: PgCodec,
): Record<string, Operator> {
  if (name === "dateTime") return { ...offered, equals: momentOperators.equals };
  if (extensions?.operatorsIn === undefined) return offered;
  const equal = sql`operator(${sql.identifier(extensions.operatorsIn)}.=)`;
  return {
    ...offered,
    equals: { ...operators.equals, condition: (column, [value]) => sql`${column} ${equal} ${value!}` },
    in: { ...operators.in, condition: (column, [values]) => sql`${column} ${equal} any(${values!})` },
  };
}

/** Operators of lists. */
const listOperators: Record<string, Operator> = {
  contains: {
    ...createComparison(sql`@>`, "Holds all of these values, at most 250."),
    operand: "elements",
  },
  overlaps: {
    ...createComparison(sql`&&`, "Holds any of these values, at most 250."),
    operand: "elements",
  },
  isEmpty: {
    operand: "flag",
    description: "`true` for lists without elements, `false` for those that have some.",
    parameters: () => [],
    condition: (column, _parameters, isEmpty) =>
      isEmpty ? sql`cardinality(${column}) = 0` : sql`cardinality(${column}) > 0`,
  },
  isNull: operators.isNull,
};

const jsonOperators: Record<string, Operator> = {
  contains: createComparison(
    sql`@>`,
    "Holds this: of an object these members, of a list these elements, at any depth that this has.",
  ),
  hasKey: {
    ...createComparison(sql`?`, "An object with this member, or a list with this text."),
    operand: "text",
    parameters: (key) => [createTextParameter(key as string)],
  },
  isNull: operators.isNull,
};

const rangeOperators: Record<string, Operator> = {
  equals: operators.equals,
  overlaps: operators.overlaps,
  contains: {
    ...createComparison(sql`@>`, "Holds this value."),
    operand: "element",
    parameters: (value, { extensions }) => [createParameter(value, extensions!.bound!)],
  },
  isNull: operators.isNull,
};

/** Returns the operators of lists, JSON and ranges, which no index supports; undefined for other types. */
export function getContainerOperators(codec: PgCodec): Record<string, Operator> | undefined {
  if (getElementCodec(codec)) return listOperators;
  return codec === TYPES.jsonb ? jsonOperators : codec.extensions?.bound && rangeOperators;
}

export type OperatorName = keyof typeof operators;

const orderedOperators: OperatorName[] = ["equals", "in", "lt", "lte", "gt", "gte", "isNull"];

/** The operators in the filter of each scalar. Enums have {@link enumOperators}. */
export const scalarOperators: Readonly<Record<string, readonly OperatorName[]>> = {
  ID: ["equals", "in", "notIn"],
  String: ["equals", "in", "contains", "startsWith", "endsWith", "isNull"],
  Int: orderedOperators,
  Float: orderedOperators,
  DateTime: ["equals", "before", "after", "isNull"],
  Boolean: ["equals"],
  UUID: ["equals", "in", "notIn", "isNull"],
  Date: orderedOperators,
  Time: orderedOperators,
  LocalDateTime: orderedOperators,
  Duration: orderedOperators,
  BigInt: orderedOperators,
  Decimal: orderedOperators,
  Base64: ["equals", "isNull"],
  InternetAddress: ["equals", "in", "within", "isNull"],
  MacAddress: ["equals", "in", "isNull"],
};

/** The operators in the filter of an enum. */
export const enumOperators: readonly OperatorName[] = ["equals", "in", "isNull"];

/**
 * Refuses texts that Postgres can't take as a parameter.
 *
 * @throws BAD_USER_INPUT for a text with a NUL character
 */
export function checkText(value: unknown): void {
  if (typeof value === "string" && value.includes("\0")) {
    throw apiError("BAD_USER_INPUT", "A text can't contain the character U+0000.");
  }
}
