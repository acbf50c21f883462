import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";
import type { Mutant } from "./mutant.ts";
import { mutantsOfDocuments } from "./mutants-of-documents.ts";
import { mutantsOfTaxes } from "./mutants-of-taxes.ts";
import { mutantsOfXRechnung } from "./mutants-of-xrechnung.ts";
import { validInvoices } from "./valid-invoices.ts";

const used = useDatabase("template_schema");
const query = queryRows(() => used.client);

interface Fault {
  rule: string;
  field: string;
  message: string;
}

/** Applies our rules to a config, in the role of mutations. */
const faultsOf = async (config: object): Promise<Fault[]> =>
  (await query("select * from erp.invoice_faults($1)", [config])) as Fault[];

describe("an invoice without faults", () => {
  for (const [name, config] of validInvoices()) {
    test(name, async () => assert.deepEqual(await faultsOf(config), []));
  }
});

function isRefused(mutants: Mutant[]): void {
  const seen = new Map<string, number>();
  for (const { rules, field, config } of mutants) {
    const [rule] = rules as [string];
    const nth = (seen.get(rule) ?? 0) + 1;
    seen.set(rule, nth);
    test(`${rule}, ${nth}: ${field}`, async () => {
      const faults = await faultsOf(config);
      const found = JSON.stringify(faults);
      assert.deepEqual([...new Set(faults.map((fault) => fault.rule))].sort(), [...rules].sort(), found);
      assert.ok(
        faults.some((fault) => fault.rule === rule && fault.field === field),
        found,
      );
      for (const { message } of faults) assert.match(message, /^[A-Z0-9].*[.#]$/);
    });
  }
}

describe("a mutant is refused by its rule", () => {
  isRefused(mutantsOfDocuments);
  isRefused(mutantsOfTaxes);
});
describe("a mutant of an XRechnung is refused by its rule", () => isRefused(mutantsOfXRechnung));
