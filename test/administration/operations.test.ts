import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { loggedIn, textOf } from "./browser.ts";
import type { HttpBrowser } from "./browser.ts";

let service: TestService;
let visitor: HttpBrowser;
before(async () => {
  service = await startService({ template: "template_demo" });
  visitor = await loggedIn(service, "anna");
});
after(() => service.close());

test("operations are listed, and one is shown with its API credentials, statement, plan and missing index", async () => {
  assert.match(textOf(await visitor.get("/admin/operations")), /No API credential has sent an operation/);
  const process = await service.another();
  const credentials = await service.credential({ name: "The <shop>" });
  const token = await process.tokenFor(credentials);
  const find =
    'query Find { customers(filter: { firstName: { equals: "hunter2" } }) { edges { node { id } } } }';
  const known = "{ countrys { edges { node { id } } } }";
  for (const query of [find, find, known]) assert.deepEqual((await process.ask(token, { query })).codes, []);
  await process.close();

  const list = await visitor.get("/admin/operations");
  assert.match(textOf(list), /Find unstable 2 [\d.]+ ms [\d.]+ ms [\d.]+ ms 1/);
  assert.match(textOf(await visitor.get("/admin/operations?by=worst")), /By the slowest statement/);
  const [, path] = /href="(\/admin\/operations\/[0-9a-f]{16})"[^>]*>\s*Find/.exec(list.html)!;
  const page = await visitor.get(path!);
  const text = textOf(page);
  assert.match(page.html, new RegExp(`href="/admin/tokens/${credentials.id}"[^>]*>\\s*The &lt;shop&gt;`));
  assert.match(text, /customers\(filter: \{firstName: \{equals: \$equals\}\}\)/);
  assert.match(text, /operation='[0-9a-f]{16}',version='unstable'/);
  assert.match(text, /Plan Result .* on customer/s);
  assert.match(text, /create index concurrently on "erp"."customer" \("first_name", "id"\);/);
  assert.doesNotMatch(text, /hunter2/);

  // Clients' rights are enough for a plan, and nothing but a plan is made
  for (const [statement, expected] of [
    ["select 1; drop table erp.customer", /Postgres can’t plan it any more/],
    ["select secret_hash from auth.credential_secret", /Postgres can’t plan it any more/],
    [null, /too long to be stored/],
  ] as const) {
    await service.owner.query("update auth.operation set statement = $1 where name = 'Find'", [statement]);
    assert.match(textOf(await visitor.get(path!)), expected);
  }
  await service.owner.query("select from erp.customer");
});

test("ids that are none, or that nobody has sent, lead nowhere", async () => {
  for (const id of ["0123456789abcdef", "x", "0123456789abcdef0"])
    assert.equal((await visitor.get(`/admin/operations/${id}`)).status, 404);
});
