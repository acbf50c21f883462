import { isIP } from "node:net";
import { isUuid } from "../lib/uuid.ts";

/** The spelling of a type's values in ids and cursors: one for each value, which Postgres reads without an error. */
export interface KeyForm {
  /** Its name in messages, as in gid://service/Customer/<integer>. */
  name: string;
  isValid(text: string): boolean;
}

/** A column of a key, as far as texts of keys need it. */
export interface KeyPart {
  form: KeyForm;
  /** Whether it can be null: in orders of lists, not in keys. */
  isNullable?: boolean;
}

const integer = (bits: bigint): KeyForm => ({
  name: "integer",
  isValid(text) {
    if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return false;
    const [value, end] = [BigInt(text), 1n << (bits - 1n)];
    return value >= -end && value < end;
  },
});

const anyText: KeyForm = { name: "text", isValid: (text) => !text.includes("\0") && text.isWellFormed() };

/** Whether a calendar has this day. The year before 1 is 1 BC. */
function isDay(year: string, month: string, day: string, isBeforeChrist: boolean, lastYear: number): boolean {
  if (Number(year) < 1 || Number(year) > lastYear) return false;
  const date = new Date(0);
  const proleptic = isBeforeChrist ? 1 - Number(year) : Number(year);
  // The calendar repeats itself after 400 years, and Date doesn't reach as far as Postgres
  date.setUTCFullYear(2000 + (proleptic % 400), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function isDate(text: string): boolean {
  const match = /^(\d{4,7})-(\d\d)-(\d\d)( BC)?$/.exec(text);
  if (!match) return text === "infinity" || text === "-infinity";
  return isDay(match[1]!, match[2]!, match[3]!, match[4] !== undefined, match[4] ? 4713 : 5_874_897);
}

const moment = /^(\d{4,6})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?$/;
function isMoment(text: string): boolean {
  const match = moment.exec(text);
  if (!match) return text === "infinity" || text === "-infinity";
  return isDay(match[1]!, match[2]!, match[3]!, false, 294_275);
}

const patternForm = (name: string, pattern: RegExp): KeyForm => ({
  name,
  isValid: (text) => pattern.test(text),
});

/** Durations whose numbers have few enough digits for Postgres. */
const duration =
  /^P(?=.)(-?\d{1,6}Y)?(-?\d{1,7}M)?(-?\d{1,7}W)?(-?\d{1,8}D)?(T(?=.)(-?\d{1,9}H)?(-?\d{1,9}M)?(-?\d{1,9}(\.\d{1,6})?S)?)?$/;

function isAddress(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const version = address.includes("%") ? 0 : isIP(address);
  const isMask = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  return version > 0 && more.length === 0 && isMask;
}

/** Whether Postgres accepts a text as a double, neither too large nor too small. */
function isDouble(text: string): boolean {
  if (/^(NaN|-?Infinity)$/.test(text)) return true;
  if (!/^-?\d{1,400}(\.\d{1,400})?(e[+-]?\d{1,3})?$/.test(text)) return false;
  return Number.isFinite(Number(text)) && (Number(text) !== 0 || /^-?[0.]+(e|$)/.test(text));
}

const forms: Readonly<Record<string, KeyForm>> = {
  uuid: { name: "uuid", isValid: isUuid },
  int2: integer(16n),
  int4: integer(32n),
  int8: integer(64n),
  numeric: patternForm("number", /^(-?\d{1,1000}(\.\d{1,1000})?|NaN|-?Infinity)$/),
  bool: patternForm("true or false", /^(true|false)$/),
  date: { name: "date", isValid: isDate },
  timestamp: { name: "date and time", isValid: isMoment },
  timestamptz: {
    name: "date and time",
    isValid: (text) => text.endsWith("Z") && isMoment(text.slice(0, -1)),
  },
  time: patternForm("time", /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?$/),
  bytea: patternForm("hexadecimal digits", /^\\x([0-9a-f]{2})*$/),
  interval: patternForm("duration", duration),
  inet: { name: "address", isValid: isAddress },
  float8: { name: "number", isValid: isDouble },
  text: anyText,
  varchar: anyText,
  bpchar: anyText,
};

/** Returns the form of a Postgres type by its name; undefined for types whose values can't be checked here. */
export const findKeyForm = (typeName: string): KeyForm | undefined =>
  Object.hasOwn(forms, typeName) ? forms[typeName] : undefined;

/** Makes the form of an enum. */
export const labelForm = (labels: readonly string[]): KeyForm => ({
  name: "label",
  isValid: (text) => labels.includes(text),
});

/** The form of values that are compared as their texts. */
export const textForm = anyText;

/** The key of objects that have an id but no GraphQL type. */
export const uuidKey: readonly KeyPart[] = [{ form: forms.uuid! }];

/** The spelling of null in the place of a row. No value has it, because texts of values have no single percent sign. */
export const nullText = "%";

const escapePart = (value: string): string => value.replaceAll("%", "%25").replaceAll("/", "%2F");

/** Returns the text of a key from the values of its columns. */
export const writeKey = (values: readonly string[]): string => values.map(escapePart).join("/");

/** Reads the values of the columns of a key; null if the text is invalid. */
export function readKey(parts: readonly KeyPart[], text: string): string[] | null {
  if (parts.length === 1 && !text.includes("%") && !text.includes("/"))
    return parts[0]!.form.isValid(text) ? [text] : null;
  if (/%(?!25|2F)/.test(text)) return null;
  const values = text.split("/").map((value) => value.replaceAll("%2F", "/").replaceAll("%25", "%"));
  if (values.length !== parts.length) return null;
  return values.every((value, index) => parts[index]!.form.isValid(value)) ? values : null;
}

/** Reads the values of a place in a list's sort order; null if the text is invalid. */
export function readPlace(parts: readonly KeyPart[], text: string): (string | null)[] | null {
  if (!parts.some(({ isNullable }) => isNullable)) return readKey(parts, text);
  const texts = text.split("/");
  const isRight = texts.every((one, index) => one !== nullText || parts[index]?.isNullable);
  const withoutNulls = parts.filter((_part, index) => texts[index] !== nullText);
  const values = isRight && texts.length === parts.length ? readKey(withoutNulls, joinNonNull(texts)) : null;
  return values && texts.map((one) => (one === nullText ? null : values.shift()!));
}

const joinNonNull = (texts: readonly string[]): string => texts.filter((one) => one !== nullText).join("/");

/** Describes the form of keys for messages: `<integer>/<text>`. */
export const describeKey = (parts: readonly KeyPart[]): string =>
  parts.map(({ form }) => `<${form.name}>`).join("/");
