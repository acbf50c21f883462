import { UserError } from "../../errors/user-error.ts";
import { parseRates } from "./parse.ts";
import { readText } from "./read.ts";
import type { ReadLimits } from "./download.ts";

/** The publisher of the rates, as receipts store it. */
const source = "ecb";

/** Result of an import for one day. */
export interface ImportedDay {
  date: string;
  /** Currencies with published rates. */
  published: number;
  /** Currencies that the system has, and now has a rate for. */
  known: number;
}

export interface ImportOptions {
  /** Path of a file, or an http or https address, with the European Central Bank's list. */
  from: string;
  /** Runs a statement, as service_worker. */
  query: (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;
  limits?: Partial<ReadLimits>;
  /** Aborts a download. */
  stopping?: AbortSignal;
  /** Reads the list. */
  read?: typeof readText;
}

/**
 * Imports exchange rates: all days of the list, or none.
 *
 * @throws {UserError} if the list can't be read, is invalid, or has no rate for the default currency
 */
export async function importRates(options: ImportOptions): Promise<ImportedDay[]> {
  const { from, query, limits, stopping, read = readText } = options;
  const days = parseRates(await read(from, { limits, stopping }));
  try {
    // One statement, so that it is one transaction
    const { rows } = await query(
      `select date::text, (select count(*)::integer from jsonb_object_keys(rates)) as published,
         erp.import_exchange_rates(date, rates, $2) as known
       from jsonb_to_recordset($1) as day (date date, rates jsonb) order by day.date`,
      [JSON.stringify(days), source],
    );
    return rows as ImportedDay[];
  } catch (error) {
    // raise_exception: the function's message is meant for people
    if ((error as { code?: string }).code === "P0001")
      throw new UserError((error as Error).message, { cause: error });
    throw error;
  }
}
