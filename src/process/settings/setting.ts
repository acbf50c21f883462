import { z } from "zod";
import { AllowList } from "../../webhooks/addresses.ts";

/** The type of a setting: a schema that parses its text, and a description of valid values. */
export interface Kind<Value> {
  schema: z.ZodType<Value, unknown>;
  expected: string;
}

/** The declaration of a setting. Its type, its check, `.env.example` and docs/reference/settings.md follow from it. */
export interface Setting<Value> {
  /** Name of the environment variable. */
  name: string;
  kind: Kind<NonNullable<Value>>;
  /** The default as an operator would write it; undefined if the setting is optional. */
  fallback: string | undefined;
  /** The example in `.env.example`. */
  example: string;
  /** A description for operators: sentences in Markdown. */
  doc: string;
  /** Whether its value may contain a password. Messages don't show such a value. */
  secret: boolean;
}

interface Options {
  doc: string;
  example?: string;
  secret?: boolean;
}

/** A setting that always has a value. */
export function setting<Value>(
  name: string,
  kind: Kind<NonNullable<Value>>,
  fallback: string | number | boolean,
  { doc, example = String(fallback), secret = false }: Options,
): Setting<Value> {
  return { name, kind, fallback: String(fallback), example, doc, secret };
}

/** An optional setting. */
export function optional<Value>(
  name: string,
  kind: Kind<NonNullable<Value>>,
  { doc, example = "", secret = false }: Options,
): Setting<Value | undefined> {
  return { name, kind, fallback: undefined, example, doc, secret };
}

const count = new Intl.NumberFormat("en");

export function wholeNumber(min: number, max: number): Kind<number> {
  return {
    schema: z.coerce.number().int().min(min).max(max),
    expected: `a whole number from ${count.format(min)} to ${count.format(max)}`,
  };
}

/** A time that operators write in seconds and code reads in milliseconds. */
export function seconds(min = 0.1): Kind<number> {
  return {
    schema: z.coerce
      .number()
      .min(min)
      .max(3_600)
      .transform((value) => value * 1000),
    expected: `seconds, from ${min} to 3,600`,
  };
}

export const flag: Kind<boolean> = convert(oneOf("true", "false"), (text) => text === "true");

export function oneOf<const Text extends string>(...texts: [Text, ...Text[]]): Kind<Text> {
  return {
    schema: z.enum(texts),
    expected: new Intl.ListFormat("en", { type: "disjunction" }).format(texts.map((text) => `\`${text}\``)),
  };
}

export function text(expected: string, minLength = 1): Kind<string> {
  return { schema: z.string().min(minLength), expected };
}

export function url(protocol: RegExp, expected: string): Kind<string> {
  return { schema: z.url({ protocol }), expected };
}

/** Splits a list into its entries. */
const entries = z.string().transform((list) => list.split(/[\s,]+/).filter(Boolean));

/** A list whose entries pass a check. */
const listOf = (isEntry: (entry: string) => boolean, expected: string): Kind<string[]> => ({
  schema: entries.refine((list) => list.every(isEntry)),
  expected,
});

export const urls = (protocol: RegExp, expected: string): Kind<string[]> => ({
  schema: entries.pipe(z.array(z.url({ protocol })).min(1)),
  expected: `${expected}, separated by commas`,
});

/** Hosts, addresses and ranges of addresses. */
export const destinations = listOf(
  isDestination,
  "host names, addresses, and ranges such as `10.0.0.0/8`, separated by commas",
);

function isDestination(entry: string): boolean {
  try {
    new AllowList([entry]);
    return true;
  } catch {
    return false;
  }
}

/** Host names, in lower case and without a port. */
export const hosts = convert(
  listOf((host) => /^[a-z0-9.-]+$/i.test(host), "host names, separated by commas"),
  (names) => names.map((name) => name.toLowerCase()),
);

/** Origins of web pages. */
export const origins = listOf(
  (entry) => entry === "*" || isOrigin(entry),
  "origins such as `https://shop.example`, separated by commas, or `*`",
);

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

/** One secret or several, separated by commas. */
export function secrets(isSecret: (text: string) => boolean, expected: string): Kind<string[]> {
  return {
    schema: z
      .string()
      .transform((list) => (list === "" ? [] : list.split(",").map((secret) => secret.trim())))
      .refine((list) => list.every(isSecret)),
    expected: `${expected}; separate several by commas`,
  };
}

export const ports = convert(listOf(isPort, "port numbers, separated by commas"), (list) => list.map(Number));

function isPort(text: string): boolean {
  const port = Number(text);
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

/** A type whose value is converted after it was parsed. */
export function convert<Outside, Inside>(
  { schema, expected }: Kind<Outside>,
  inside: (value: Outside) => Inside,
): Kind<Inside> {
  return { schema: schema.transform(inside), expected };
}
