import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRates } from "../../../src/jobs/exchange-rates/parse.ts";
import { UserError } from "../../../src/errors/user-error.ts";
import { listOf, oneDay } from "./lists.ts";

test("a list of one day", () => {
  assert.deepEqual(parseRates(oneDay), [
    { date: "2026-06-01", rates: { USD: 1.1, JPY: 161.85, GBP: 0.85, CHF: 0.95 } },
  ]);
});

test("a list of 90 days, in which currencies may come and go", () => {
  const days = Array.from({ length: 90 }, (_, index) => {
    const date = new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10);
    return [date, { USD: `1.${1000 + index}`, ...(index < 45 && { BGN: "1.9558" }) }] as const;
  });
  const parsed = parseRates(listOf(Object.fromEntries(days)));
  assert.equal(parsed.length, 90);
  assert.deepEqual(parsed[0], { date: "2026-01-01", rates: { USD: 1.1, BGN: 1.9558 } });
  assert.deepEqual(parsed[89]!.rates, { USD: 1.1089 });
});

test("other quotation marks, comments and blanks make no difference", () => {
  const written = oneDay
    .replaceAll("'", '"')
    .replace("<Cube>", "<!-- rates -->\r\n<Cube >")
    .replaceAll("/>", "></Cube>");
  assert.deepEqual(parseRates(written), parseRates(oneDay));
});

const usd = "<Cube currency='USD' rate='1.1'/>";

for (const [what, text] of Object.entries({
  "an empty text": "",
  "a page of HTML": "<!doctype html><html><body><h1>Not found</h1></body></html>",
  JSON: '{"USD": 1.1}',
  "a list that breaks off": oneDay.slice(0, -60),
  "a list that ends twice": `${oneDay}</gesmes:Envelope>`,
  "another document": "<?xml version='1.0'?><rates><USD>1.1</USD></rates>",
  "a list of another sort": oneDay.replace("/eurofxref", "/other"),
  "a list without days": listOf({}),
  "a day without rates": listOf({ "2026-06-01": {} }),
  "a rate of zero": oneDay.replace("1.1", "0"),
  "a rate of 0.000": oneDay.replace("1.1", "0.000"),
  "a negative rate": oneDay.replace("1.1", "-1.1"),
  "a rate that is no number": oneDay.replace("1.1", "N/A"),
  "a rate of Infinity": oneDay.replace("1.1", "Infinity"),
  "a rate with an exponent": oneDay.replace("1.1", "1e3"),
  "a rate with a comma": oneDay.replace("1.1", "1,1"),
  "a rate with more digits than can be kept": oneDay.replace("1.1", "1.12345678901234567890"),
  "an empty rate": oneDay.replace("1.1", ""),
  "a rate without a value": oneDay.replace("rate='1.1'", "rate"),
  "a rate without a currency": oneDay.replace("currency='USD' ", ""),
  "a currency that is no code": oneDay.replace("USD", "dollar"),
  "an unknown attribute, which may change what the number means": oneDay.replace(
    usd,
    usd.replace("rate", "multiplier='100' rate"),
  ),
  "a text among the rates": oneDay.replace(usd, `${usd}and`),
  "an unknown element": oneDay.replace(usd, `${usd}<Rate/>`),
  "a day that is none": oneDay.replace("2026-06-01", "2026-02-30"),
  "a day in another form": oneDay.replace("2026-06-01", "01.06.2026"),
  "a currency twice": oneDay.replace("GBP", "USD"),
  "a day twice": oneDay.replace(
    "</Cube>\n\t</Cube>",
    "</Cube><Cube time='2026-06-01'><Cube currency='USD' rate='2'/></Cube></Cube>",
  ),
  "the same attribute twice": oneDay.replace("rate='1.1'", "rate='1.1' rate='1.2'"),
  "an entity": oneDay.replace("1.1", "&one;"),
  "entities that grow": oneDay.replace(
    "<gesmes:Envelope",
    `<!DOCTYPE x [<!ENTITY a "1"><!ENTITY b "&a;&a;&a;&a;">]>\n<gesmes:Envelope`,
  ),
  "a file named by an entity": oneDay
    .replace("<gesmes:Envelope", `<!DOCTYPE x [<!ENTITY one SYSTEM "file:///etc/passwd">]>\n<gesmes:Envelope`)
    .replace("1.1", "&one;"),
  "very many levels": "<a>".repeat(500_000) + "</a>".repeat(500_000),
  "very many names": `<a>${Array.from({ length: 300_000 }, (_, n) => `<b${n}/>`).join("")}</a>`,
  "a day of very many rates": listOf({ "2026-06-01": { USD: "1.1" } }).replace(usd, usd.repeat(120_000)),
})) {
  test(`${what} is refused, and why`, () => {
    const begin = process.cpuUsage();
    assert.throws(
      () => parseRates(text),
      (error: Error) => {
        assert.ok(error instanceof UserError, error.stack);
        assert.match(error.message, /^This is no list of exchange rates .+: .+\.$/);
        assert.ok(error.message.length < 300);
        return true;
      },
    );
    assert.ok(process.cpuUsage(begin).user < 10_000_000, "without keeping others waiting");
  });
}
