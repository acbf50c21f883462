import { importRates } from "../jobs/exchange-rates/import-rates.ts";
import type { ImportedDay } from "../jobs/exchange-rates/import-rates.ts";
import { UsageError } from "./terminal.ts";
import { asRole } from "./with-database.ts";

const describe = ({ date, published, known }: ImportedDay): string =>
  `${date}  ${known} of ${published} rates are for currencies of the shop`;

export async function importRatesFrom(from: string): Promise<void> {
  if (from === "") throw new UsageError("From where? --from takes a file or an address.");
  // The role of background work may do this and little else, so the service's URL is enough
  const days = await asRole("service_worker", (client) =>
    importRates({ from, query: (text, values) => client.query(text, values) }),
  );
  process.stdout.write(`${days.map(describe).join("\n")}\n`);
}
