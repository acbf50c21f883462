import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Request } from "express";
import { pino } from "pino";
import { createPool } from "../../src/postgres/pool.ts";
import { chooseLocale, Locales } from "../../src/http/middleware/reading/negotiate-locale.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

const supported = ["de-DE", "en-GB", "fr-FR"];

test("the same locale is chosen, or one of the same language, in the client's order", () => {
  const choices: [string[], string][] = [
    [["de-DE"], "de-DE"],
    [["DE-de"], "de-DE"],
    [["de"], "de-DE"],
    [["de-AT"], "de-DE"],
    [["it", "fr-CH", "de"], "fr-FR"],
    [["en-US"], "en-GB"],
    [["*"], "en-GB"],
    [["it"], "en-GB"],
    [[], "en-GB"],
  ];
  for (const [preferred, expected] of choices)
    assert.equal(chooseLocale(preferred, supported), expected, `${preferred}`);
});

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

test("Accept-Language decides about localised names, request by request", async () => {
  const texts = { "en-GB": "Testland", "de-DE": "Prüfland" };
  await service.owner.query("insert into erp.country (iso_code, name) values ('XA', $1)", [texts]);
  const token = await service.token();
  const query = '{ countrys(filter: { id: { equals: "ID" } }) { edges { node { name } } } }';
  const { rows } = await service.owner.query("select id from erp.country where iso_code = 'XA'");
  const id = `gid://service/Country/${rows[0].id}`;
  const ask = async (language: string) => {
    const headers = { "accept-language": language };
    const answer = await service.ask(token, { query: query.replace("ID", id) }, { headers });
    assert.match(answer.headers.get("vary")!, /Accept-Language/);
    return [answer.body.data.countrys.edges[0].node.name, answer.headers.get("content-language")];
  };
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => ask(i % 2 ? "de-AT, en;q=0.5" : "en")),
  );
  answers.forEach((answer, i) =>
    assert.deepEqual(answer, i % 2 ? ["Prüfland", "de-DE"] : ["Testland", "en-GB"]),
  );
  // A locale that the service knows, but this text lacks
  assert.deepEqual(await ask("fr"), ["Testland", "fr-FR"]);
  assert.deepEqual(await ask("nonsense;;q=x"), ["Testland", "en-GB"]);
});

test("locales that couldn't be read are soon read again", async (t) => {
  const proxy = await openCuttableProxy(service.loginUrl);
  t.after(() => proxy.close());
  const pool = createPool(proxy.url, { max: 1 });
  t.after(() => pool.end());
  const locales = new Locales(pool, pino({ level: "silent" }));
  const request = { headers: { "accept-language": "de" } } as Request;
  proxy.cut();
  assert.equal(await locales.choose(request), "en-GB");
  proxy.restore();
  await until(async () => (await locales.choose(request)) === "de-DE");
});
