import { withClient } from "../postgres/client.ts";
import { openForCommand } from "../migrations/open-database.ts";
import { urlAsRole } from "../postgres/roles.ts";
import { importRates } from "../jobs/exchange-rates/import.ts";
import type { ImportedDay } from "../jobs/exchange-rates/import.ts";
import { readSettings } from "../process/settings.ts";
import { UserError } from "../errors/user-error.ts";
import { atTheCommandLine } from "./command-line.ts";
import { UsageError } from "./terminal.ts";

const usage = `Imports exchange rates, in the form of the European Central Bank.

Usage: npm run rates -- --from <file or address>

  --from X   a file, or an address with https: or http:, of the rates of one day or of many, such as
             https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml
             https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml

A day that has been imported before is corrected. All days are imported, or none. Works on the embedded Postgres,
whether the service runs or not, or on DATABASE_URL. Exit code 0: done, 1: refused or failed, 2: invalid arguments.
`;

function describe({ date, published, known }: ImportedDay): string {
  return `${date}  ${known} of ${published} rates are for currencies of the shop`;
}

async function main({ from }: { from?: string }): Promise<void> {
  if (!from) throw new UsageError("From where? --from takes a file or an address.");
  const database = await openForCommand(readSettings());
  try {
    // The role of background work may do this and little else, so the service's URL is enough
    const days = await withClient(urlAsRole(database.url, "service_worker"), (client) =>
      importRates({ from, query: (text, values) => client.query(text, values) }),
    );
    process.stdout.write(`${days.map(describe).join("\n")}\n`);
  } catch (error) {
    throw explain(error);
  } finally {
    await database.close();
  }
}

/** Explains errors that the person at the terminal can solve; other errors are ours and stay unchanged. */
function explain(error: unknown): unknown {
  const { cause } = error as Error;
  const { code } = (error instanceof UserError && cause ? cause : error) as { code?: string };
  // undefined_function, invalid_schema_name, insufficient_privilege; and a missing role
  if (["42883", "3F000", "42501", "22023"].includes(code ?? "")) {
    return new UserError(
      "The database has not been set up for this yet, or DATABASE_URL is neither the service's nor an administrator's. Run `npm run db:setup`.",
    );
  }
  return error;
}

if (import.meta.main) await atTheCommandLine({ usage, options: { from: { type: "string" } } }, main);
