import { examples } from "./program.ts";
import type { Program } from "./program.ts";

const customers = () => import("./customers.ts");

const ofClient = `Uses the API at API_URL (http://127.0.0.1:4000 unless it is set), with the credentials CLIENT_ID and CLIENT_SECRET
of the environment, as \`npx erp credential create\` makes them.`;

export function addDataCommands(erp: Program): void {
  erp.commandsGroup("Data:");
  addFileCommands(erp);
  const about = erp
    .command("customers")
    .description("Hands over what there is about a customer, or anonymizes it.");
  about
    .command("export <customer>")
    .description(
      "Prints all of it as JSON, documents with their files in base64. CUSTOMER: id, number or e-mail.",
    )
    .option("--to <file>", "the file to write, in place of standard output")
    .addHelpText(...examples("customers export anna@example.com --to anna.json"))
    .action(async (customer, options) => (await customers()).printCustomer(customer, options));
  about
    .command("anonymize <customer>")
    .description(
      `Replaces it for good, everywhere but in documents, which it names. Refused while open orders need the address.
Backups and what was sent to others aren't changed (docs/guides/retention.md). CUSTOMER: id, number or e-mail.`,
    )
    .addHelpText(...examples("customers anonymize anna@example.com"))
    .action(async (customer) => (await customers()).anonymize(customer));
  erp
    .command("rates")
    .description(
      `Imports exchange rates. They have the form of the European Central Bank. A day that has been imported before is corrected. All
days are imported, or none.`,
    )
    .requiredOption("--from <place>", "a file, or an address with https: or http:, of one day or of many")
    .addHelpText(...examples("rates --from https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml"))
    .action(async ({ from }) => (await import("./rates.ts")).importRatesFrom(from));
}

/** Commands for integrations: clients of the API, which need neither the database nor the modules of the service. */
function addFileCommands(erp: Program): void {
  erp
    .command("import")
    .description(
      `Loads a file of rows into the shop, by the API. Rows that are refused are written to a file beside it,
<file>.errors.jsonl: line, code, message, field. Then the exit code is 1.

${ofClient} They need to write the resource, and bulk_operations.`,
    )
    .argument("<resource>", "what the rows are, such as products or sales_channels: an upsert's name in SQL")
    .argument("<file>", "a .jsonl or .csv, perhaps with .gz behind; UTF-8, unless it has a byte order mark")
    .option("--charset <name>", "another charset, such as windows-1252")
    .addHelpText(...examples("import products products.csv"))
    .action(async (resource, file, options) =>
      (await import("./import.ts")).importFile(resource, file, options),
    );
  erp
    .command("export")
    .description(
      `Writes all rows of a list of the API to a file. It has them as they are at one moment.

${ofClient} They need to read what the query asks for, and to write bulk_operations.`,
    )
    .argument("<query>", "a file with the query, or its text")
    .argument("<file>", "the .jsonl or .csv to write")
    .option("--variables <json>", "variables of the query")
    .option("--raw", "CSV without the apostrophes that keep spreadsheets from running texts as formulas")
    .option("--for-import", "lines in the form in which imports take them")
    .addHelpText(...examples("export '{ products { edges { node { productNumber name } } } }' products.csv"))
    .action(async (query, file, options) => (await import("./export.ts")).exportFile(query, file, options));
}
