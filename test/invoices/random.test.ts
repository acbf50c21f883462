import assert from "node:assert/strict";
import { test } from "node:test";
import { useDatabase } from "../lib/database.ts";
import { seed } from "../lib/seed.ts";
import { readXml, writeXml } from "./read-xml.ts";
import { randomInvoices } from "./random.ts";

/** Number of invoices; test/long.ts makes more. The official rules check them, too: `npm run test:invoices -- --random 500`. */
const count = Number(process.env.RANDOM_INVOICES ?? 40);

const used = useDatabase("template_schema");

test("random invoices break no rule, and their XML has their amounts", async () => {
  const { client } = used;
  const kinds = new Set<string>();
  for (const config of randomInvoices(count, seed)) {
    const { form, typeCode, totals, currency } = config;
    kinds.add(`${form} ${typeCode}`);
    const because = `SEED=${seed}, ${config.documentNumber}`;
    const { rows: faults } = await client.query("select rule, message from erp.invoice_faults($1)", [
      JSON.stringify(config),
    ]);
    assert.deepEqual(faults, [], because);
    const xml = await writeXml(client, config);
    const find = (path: string) => readXml(client, xml, path);
    assert.deepEqual(await find("GrandTotalAmount"), [totals.total.toFixed(2)], because);
    assert.deepEqual(await find("DuePayableAmount"), [totals.due.toFixed(2)], because);
    assert.deepEqual(
      await find(`TaxTotalAmount[@currencyID='${currency.isoCode}']`),
      [sumOf(totals.taxes, "tax")],
      because,
    );
    const nets = await find("SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount");
    assert.equal(nets.length, config.lines.length, because);
    assert.equal(
      nets.reduce((sum, net) => sum + Math.round(Number(net) * 100), 0),
      toCount(totals.lineNet),
      because,
    );
  }
  assert.equal(kinds.size, 7, "Each form has each type, but XRechnung no prepayments");
});

test("random invoices are the same for a seed", () => {
  assert.deepEqual([...randomInvoices(5, 3)], [...randomInvoices(5, 3)]);
  assert.notDeepEqual([...randomInvoices(5, 3)], [...randomInvoices(5, 4)]);
});

const toCount = (amount: number) => Math.round(amount * 100);
const sumOf = (rows: any[], key: string) =>
  (rows.reduce((sum, row) => sum + toCount(row[key]), 0) / 100).toFixed(2);
