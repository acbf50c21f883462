/**
 * Runs the official rules over the structured invoices of a database, by default of the demonstration. Prints each rule
 * that is broken, and then fails.
 *
 *     npm run test:invoices -- [--database postgres://…] [--random 500] [--seed 7]
 *
 * `--random` checks that many made-up invoices, too. Environment variables name the files of the rules (rule-files.ts).
 */
import { parseArgs } from "node:util";
import pg from "pg";
import { globalSetup, globalTeardown } from "../lib/global-setup.ts";
import { openTestDatabase } from "../lib/database.ts";
import { breakRules } from "./broken.ts";
import { findOfficialFaults, officialFaults } from "./official-rules.ts";
import { randomInvoices } from "./random.ts";
import { findRuleFiles, MissingRules } from "./rule-files.ts";
import { sampleInvoice } from "./sample.ts";
import type { StructuredForm } from "./sample.ts";

/** An invoice to check. */
interface Invoice {
  /** Its number, and where it comes from. */
  name: string;
  form: StructuredForm;
  xml: string;
  /** What `erp.invoice_faults` finds in its config. */
  own: string[];
}

const forms: StructuredForm[] = ["zugferd", "xrechnung"];
/** As many texts go to Saxon at once, so that their reports fit on the disk. */
const atOnce = 2_000;

try {
  const { values } = parseArgs({
    options: { database: { type: "string" }, random: { type: "string" }, seed: { type: "string" } },
  });
  findRuleFiles();
  const check = (connectionString: string) =>
    checkDatabase(connectionString, Number(values.random ?? 0), Number(values.seed ?? Date.now() % 2 ** 31));
  const faults = values.database === undefined ? await inDemo(check) : await check(values.database);
  process.exitCode = faults === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof MissingRules)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function inDemo(check: (url: string) => Promise<number>): Promise<number> {
  await globalSetup();
  try {
    const database = await openTestDatabase("template_demo");
    try {
      return await check(database.ownerUrl);
    } finally {
      await database.close();
    }
  } finally {
    await globalTeardown();
  }
}

/** Checks the invoices of a database and made-up ones. Returns the number of faults. */
async function checkDatabase(connectionString: string, random: number, seed: number): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await requireWorkingRules(client);
    let faults = 0;
    const stored = await readInvoices(client);
    if (stored.length === 0) throw new Error("The database has no structured invoices.");
    faults += await checkInvoices("documents", stored);
    if (random > 0) {
      const invoices: Invoice[] = [];
      for (const config of randomInvoices(random, seed)) invoices.push(await makeInvoice(client, config));
      faults += await checkInvoices(`random invoices of seed ${seed}`, invoices);
    }
    return faults;
  } finally {
    await client.end();
  }
}

/** Fails if the rules accept invoices that are wrong: then a variable names the wrong file. */
async function requireWorkingRules(client: pg.ClientBase): Promise<void> {
  const { xml: valid } = await makeInvoice(client, sampleInvoice());
  for (const form of forms) {
    const broken = breakRules(valid).filter((entry) => entry.form === form);
    const found = await officialFaults(
      broken.map(({ xml }) => xml),
      form,
    );
    const accepted = broken.filter(({ rule }, index) => !found[index]!.includes(rule));
    if (accepted.length > 0) {
      const rules = accepted.map(({ rule }) => rule).join(", ");
      throw new MissingRules(`The files that the variables name accept invoices that break ${rules}.`);
    }
  }
}

async function readInvoices(client: pg.ClientBase): Promise<Invoice[]> {
  const { rows } = await client.query(
    `select d.document_number as name, d.config ->> 'form' as form, convert_from(f.content, 'UTF8') as xml,
       array(select format('%s: %s', v.rule, v.message) from erp.invoice_faults(d.config) v) as own
     from erp.document_file f join erp.document d on d.id = f.document_id
     where f.format = 'xml' and d.document_number is not null
     order by d.id`,
  );
  return rows;
}

async function makeInvoice(client: pg.ClientBase, config: any): Promise<Invoice> {
  const { rows } = await client.query(
    `select erp.cii(c.config) as xml,
       array(select format('%s: %s', v.rule, v.message) from erp.invoice_faults(c.config) v) as own
     from (select $1::jsonb as config offset 0) c`,
    [JSON.stringify(config)],
  );
  return { name: `${config.documentNumber} (${config.typeCode})`, form: config.form, ...rows[0] };
}

/** Prints what the rules find in invoices, and the number of invoices by form. Returns the number of faults. */
async function checkInvoices(title: string, invoices: Invoice[]): Promise<number> {
  let faults = 0;
  const hints = new Map<string, number>();
  for (const form of forms) {
    const ofForm = invoices.filter((invoice) => invoice.form === form);
    for (let first = 0; first < ofForm.length; first += atOnce) {
      const some = ofForm.slice(first, first + atOnce);
      const xmls = some.map(({ xml }) => xml);
      for (const { document, rule, flag, text } of await findOfficialFaults(xmls, form)) {
        if (flag === "information") {
          hints.set(rule, (hints.get(rule) ?? 0) + 1);
          continue;
        }
        faults++;
        console.log(`${some[document]!.name}, ${form}: ${rule} (${flag}) ${text}`);
      }
    }
    for (const { name, own } of ofForm) {
      faults += own.length;
      for (const fault of own) console.log(`${name}, ${form}: our own check finds ${fault}`);
    }
    console.log(`${title}: ${ofForm.length} of the form ${form}`);
  }
  for (const [rule, count] of hints) console.log(`${title}: ${count} hints of ${rule}`);
  console.log(`${title}: ${faults} faults`);
  return faults;
}
