import { XMLParser, XMLValidator } from "fast-xml-parser";
import { z } from "zod";
import { UserError } from "../../errors/user-error.ts";

/** The published exchange rates of one day. */
export interface DailyRates {
  /** Day of publication, such as 2026-05-29. */
  date: string;
  /** Units of each currency, by its ISO code, per euro. */
  rates: Record<string, number>;
}

// Strict, because an unknown attribute could change the meaning of a number
const rate = z.strictObject({
  "@currency": z.string().regex(/^[A-Z]{3}$/, "is no code of a currency"),
  // As many digits as a JavaScript number keeps
  "@rate": z
    .string()
    .regex(/^\d{1,9}(\.\d{1,6})?$/, "is no rate")
    .transform(Number)
    .pipe(z.number().positive()),
});
const day = z.strictObject({ "@time": z.iso.date(), Cube: z.array(rate).min(1) });
const envelope = z.strictObject({
  "?xml": z.unknown().optional(),
  "gesmes:Envelope": z.strictObject({
    "@xmlns:gesmes": z.string(),
    "@xmlns": z.literal("http://www.ecb.int/vocabulary/2002-08-01/eurofxref"),
    "gesmes:subject": z.unknown(),
    "gesmes:Sender": z.unknown(),
    Cube: z.tuple([z.strictObject({ Cube: z.array(day).min(1) })]),
  }),
});

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  parseTagValue: false,
  processEntities: false,
  isArray: (name) => name === "Cube",
});

/**
 * Parses a list of exchange rates in the European Central Bank's format, for one day or several.
 *
 * @throws {UserError} if any part has another format
 */
export function parseRates(xml: string): DailyRates[] {
  // The list needs none, and it could declare entities
  if (/<!DOCTYPE/i.test(xml)) refuse("it has a document type declaration");
  const wellFormed = XMLValidator.validate(xml);
  if (wellFormed !== true) refuse(`line ${wellFormed.err.line}: ${wellFormed.err.msg}`);
  const { data, error } = envelope.safeParse(treeOf(xml));
  if (error) refuse(`${error.issues[0]!.path.join(" ")}: ${error.issues[0]!.message}`);
  const days = data["gesmes:Envelope"].Cube[0].Cube.map(({ "@time": date, Cube: rates }) => {
    const listed = rates.map((item) => [item["@currency"], item["@rate"]] as const);
    requireOnce(listed.map(([currency]) => `${currency} on ${date}`));
    return { date, rates: Object.fromEntries(listed) };
  });
  requireOnce(days.map(({ date }) => date));
  return days;
}

function treeOf(xml: string): unknown {
  try {
    return parser.parse(xml);
  } catch (error) {
    refuse((error as Error).message);
  }
}

function requireOnce(names: string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) refuse(`${name} is there twice`);
    seen.add(name);
  }
}

function refuse(reason: string): never {
  const short = reason.slice(0, 150).replace(/\.$/, "");
  throw new UserError(
    `This is no list of exchange rates as the European Central Bank publishes it: ${short}.`,
  );
}
