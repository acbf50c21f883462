import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";
import { mutantsOfDocuments } from "./mutants-of-documents.ts";
import { mutantsOfTaxes } from "./mutants-of-taxes.ts";
import { mutantsOfXRechnung } from "./mutants-of-xrechnung.ts";
import { officialFaults } from "./official-rules.ts";
import { randomChanges } from "./random-changes.ts";
import { findRuleFiles } from "./rule-files.ts";
import { standards } from "./sample.ts";
import type { StructuredForm } from "./sample.ts";
import { unbrokenRules } from "./unbroken-rules.ts";
import { validInvoices } from "./valid-invoices.ts";

// Needs the official rules and Java, see rule-files.ts. RANDOM_CHANGES is how many invoices are changed at random

const used = useDatabase("template_schema");
const query = queryRows(() => used.client);
const forms = Object.keys(standards) as StructuredForm[];
const mutants = [...mutantsOfDocuments, ...mutantsOfTaxes, ...mutantsOfXRechnung];

/** Returns the official rules that each config breaks; undefined if it has no XML. */
async function officialFaultsOf(configs: any[], form: StructuredForm): Promise<(string[] | undefined)[]> {
  const rows = await query(
    "select erp.cii(c.config) as xml from unnest($1::jsonb[]) with ordinality c (config, n) order by c.n",
    [configs.map((config) => JSON.stringify(config))],
  );
  const xmls: (string | null)[] = rows.map(({ xml }) => xml);
  const found = (
    await officialFaults(
      xmls.filter((xml) => xml !== null),
      form,
    )
  ).values();
  return xmls.map((xml) => (xml === null ? undefined : found.next().value));
}

for (const form of forms) {
  describe(form, () => {
    test("the official rules accept what ours accept", async () => {
      const valid = validInvoices().filter(([, config]) => config.form === form);
      const found = await officialFaultsOf(
        valid.map(([, config]) => config),
        form,
      );
      assert.deepEqual(
        valid.map(([name], i) => [name, found[i]]),
        valid.map(([name]) => [name, []]),
      );
    });

    test("the official rules reject each mutant", async () => {
      const chosen = mutants.filter(({ config }) => config.form === form);
      const found = await officialFaultsOf(
        chosen.map(({ config }) => config),
        form,
      );
      const wrong = chosen.flatMap((mutant, i) => {
        const { rules, field, officially = rules[0]!, unseen } = mutant;
        const seen = found[i]?.includes(officially) ?? false;
        return seen === (unseen === undefined) ? [] : [{ rules, field, unseen, official: found[i] }];
      });
      assert.deepEqual(wrong, []);
    });

    test("the official rules reject a random change if and only if ours do", async () => {
      const { RANDOM_CHANGES = "300", SEED = "1" } = process.env;
      const changes = randomChanges(Number(RANDOM_CHANGES), Number(SEED)).filter(
        ({ config }) => config.form === form,
      );
      const configs = changes.map(({ config }) => config);
      const official = await officialFaultsOf(configs, form);
      const rows = await query(
        `select array(select f.rule from erp.invoice_faults(c.config) f order by 1) as rules
         from unnest($1::jsonb[]) with ordinality c (config, n) order by c.n`,
        [configs.map((config) => JSON.stringify(config))],
      );
      const differing = changes.flatMap(({ name }, i) => {
        const [ours, theirs] = [rows[i].rules, official[i] ?? []];
        return ours.length > 0 === theirs.length > 0 ? [] : [{ name, ours, theirs }];
      });
      assert.deepEqual(differing, []);
      const refused = rows.filter(({ rules }) => rules.length > 0).length;
      assert.ok(refused > changes.length / 10, `${refused} of ${changes.length} are refused`);
    });
  });
}

const idOfRule = /\b(?:id=|name="id">)"?((?:BR|PEPPOL)-[\w-]+)/g;

test("each official rule has a mutant, or a reason why there is none", async () => {
  const { en16931, xrechnung } = findRuleFiles();
  const texts = await Promise.all([en16931, xrechnung].map((file) => readFile(file, "utf8")));
  const official = new Set(texts.flatMap((text) => [...text.matchAll(idOfRule)].map(([, id]) => id!)));
  assert.ok(official.size > 250, `${official.size} rules`);
  const broken = new Set(mutants.flatMap(({ rules, officially }) => [...rules, officially!]));
  const reasons = Object.keys(unbrokenRules);
  assert.deepEqual(
    [...official].filter((id) => !broken.has(id) && !(id in unbrokenRules)),
    [],
  );
  assert.deepEqual(
    reasons.filter((id) => !official.has(id)),
    [],
    "reasons for what is no rule",
  );
});

const lists = {
  "BR-CL-01": "is_invoice_type",
  "BR-CL-04": "is_currency_code",
  "BR-CL-14": "is_country_code",
  "BR-CL-16": "is_payment_means_code",
  "BR-CL-22": "is_exemption_code",
  "BR-CL-23": "is_unit_code",
  "BR-CL-25": "is_address_scheme",
};

describe("a list of codes is the official one", async () => {
  const text = await readFile(findRuleFiles().en16931, "utf8");
  const official = new Map(
    [...text.matchAll(/contains\('( [^']+ )',(?:(?!contains)[^])*?"id">(BR-CL-\d+)/g)].map(
      ([, codes, id]) => [id!, codes!.trim().split(" ")],
    ),
  );
  for (const [rule, name] of Object.entries(lists)) {
    test(name, async () => {
      const codes = official.get(rule)!;
      const file = new URL(`../../db/fixtures/erp/${name}.sql`, import.meta.url);
      const source = (await readFile(file, "utf8")).replaceAll(/^comment on .*\n(?: .*\n)*/gm, "");
      const ours = [...source.matchAll(/'( [A-Z0-9 -]*)'/g)].flatMap(([, part]) => part!.trim().split(/ +/));
      assert.deepEqual(ours.sort(), [...codes].sort());
      const found = await query(
        `select c.code from unnest($1::text[]) c (code) where not erp.${name}(c.code)`,
        [codes],
      );
      assert.deepEqual(found, []);
    });
  }
});
