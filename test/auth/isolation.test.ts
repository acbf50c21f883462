import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

let service: TestService;
before(async () => {
  // Few connections, so that callers get connections that others have just used
  service = await startService({ poolSize: 3 });
});
after(() => service.close());

const countries = "{ countrys { edges { node { id name } } } }";
const currencies = "{ currencies { edges { node { id isoCode } } } }";

test("what one caller may see never shows to another, however their requests interleave", async () => {
  await service.owner.query(
    `insert into erp.country (iso_code, name) values ('XA', '{"en-GB": "Testland"}') on conflict do nothing`,
  );
  const everything = await service.token();
  const countriesOnly = await service.token({ read: ["countries"] });
  const nothing = await service.token({ read: [] });
  const { body: expected } = await service.ask(everything, { query: countries });
  assert.ok(expected.data.countrys.edges.length > 0);

  const requests = Array.from({ length: 300 }, async (_, i) => {
    const token = [everything, countriesOnly, nothing][i % 3]!;
    const query = i % 2 === 0 ? countries : currencies;
    const isAllowed = token === everything || (token === countriesOnly && query === countries);
    const { body, codes } = await service.ask(token, { query });
    assert.deepEqual(codes, isAllowed ? [] : ["FORBIDDEN"]);
    if (isAllowed && query === countries) assert.deepEqual(body, expected);
    if (!isAllowed) assert.equal(body.data, undefined);
  });
  await Promise.all(requests);
});

test("rows stay hidden behind the second fence too: node of an unreadable row is null", async () => {
  const everything = await service.token();
  const countriesOnly = await service.token({ read: ["countries"] });
  const { body } = await service.ask(everything, {
    query: "{ countrys(first: 1) { edges { node { id } } } }",
  });
  const variables = { id: body.data.countrys.edges[0].node.id };
  const query = "query ($id: ID!) { node(id: $id) { id } }";
  const asks = Array.from({ length: 60 }, async (_, i) => {
    const isAllowed = i % 2 === 0;
    const token = isAllowed ? everything : await service.token({ read: ["currencies"] });
    const answer = await service.ask(token, { query, variables });
    assert.deepEqual(answer.body.data, { node: isAllowed ? variables : null });
  });
  await Promise.all(asks);
  assert.deepEqual((await service.ask(countriesOnly, { query, variables })).body.data, { node: variables });
});

test("the settings of a request are gone from the connection when it ends", async () => {
  const token = await service.token();
  await service.ask(token, { query: countries });
  const { rows } = await service.apiPool.query(
    "select current_user::text as role, current_setting('service.scopes', true) as scopes",
  );
  assert.equal(rows[0].role, "service_api_login");
  assert.ok(!rows[0].scopes);
});
