import { UserError } from "../../errors/user-error.ts";
import { parseRates } from "./parse.ts";
import { readText } from "./read.ts";
import type { ReadLimits } from "./download.ts";

/** Who publishes the rates, as receipts keep it. */
const source = "ecb";

/** What an import has done for a day. */
export interface ImportedDay {
  date: string;
  /** Currencies that rates were published for. */
  published: number;
  /** Currencies that the system knows, and now has a rate for. */
  known: number;
}

export interface ImportOptions {
  /** Path of a file, or an address with https: or http:, of the European Central Bank's list. */
  from: string;
  /** Runs a statement, as service_worker. */
  query: (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;
  limits?: Partial<ReadLimits>;
  /** Breaks a download off. */
  stopping?: AbortSignal;
}

/**
 * Imports exchange rates: all days that the list has, or none.
 *
 * @throws {UserError} when the list can't be read, is none, or has no rate for the default currency
 */
export async function importRates({ from, query, limits, stopping }: ImportOptions): Promise<ImportedDay[]> {
  const days = parseRates(await readText(from, { limits, stopping }));
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
    // raise_exception: what the function has to say to people
    if ((error as { code?: string }).code === "P0001")
      throw new UserError((error as Error).message, { cause: error });
    throw error;
  }
}
