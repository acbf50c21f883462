import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import type { Browser, Page, Request } from "playwright-core";
import { buildSchema, parse, validate } from "postgraphile/graphql";
import { skipBrowser, startChromium } from "../lib/chromium.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { examples } from "../../src/versions/explorer-examples.ts";
import { versions } from "../../src/versions/versions.ts";
import { until } from "../lib/until.ts";

describe("the explorer in a browser", { skip: skipBrowser }, () => {
  let service: TestService;
  let browser: Browser;
  before(async () => {
    browser = await startChromium();
    service = await startService({ template: "template_demo", settings: { explorer: true } });
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  /** A window with the explorer, and what it asks the service. */
  async function open() {
    const context = await browser.newContext({
      baseURL: service.url,
      viewport: { width: 1280, height: 720 },
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const answers: { status: number; asked: string }[] = [];
    page.on("response", (response) => {
      if (new URL(response.url()).pathname === "/api/graphql/unstable")
        answers.push({ status: response.status(), asked: response.request().postData() ?? "" });
    });
    await page.goto("/explorer/unstable");
    return { context, page, answers };
  }

  async function logIn(page: Page, { clientId, clientSecret }: { clientId: string; clientSecret: string }) {
    await page.getByLabel("Client ID").fill(clientId);
    await page.getByLabel("Client secret").fill(clientSecret);
    await page.getByRole("button", { name: "Log in" }).click();
  }

  test("opens with a query that works, and says what operations cost and fields need; one logs in for the tab", async () => {
    const credentials = await service.credential({ read: "all" });
    const { context, page, answers } = await open();
    assert.equal(await page.title(), "Stock and order – GraphQL explorer, unstable");
    await page.locator(".graphiql-query-editor").getByText("orders").waitFor();
    assert.equal(await page.locator("meta[name=viewport]").count(), 1);
    await page.getByRole("button", { name: /^Execute query/ }).click();
    await page.locator(".result-window").getByText("Log in first, at the top of the page.").waitFor();
    await logIn(page, { ...credentials, clientSecret: "sk_wrong" });
    await page.getByText("The client is unknown, its secret is wrong").waitFor();
    assert.equal(answers.length, 0, "nothing is asked that would be refused");
    await logIn(page, credentials);
    await page
      .getByText(`${credentials.clientId.slice(0, 11)}…, ${credentials.scopes.length} scopes`)
      .waitFor();
    await until(() => answers.some(({ asked }) => asked.includes("__schema")));
    await page.getByRole("button", { name: /^Execute/ }).click();
    await page.locator(".result-window").getByText("SO-10001").waitFor();
    await page.getByText(/^Cost 4 of at most [0-9]+ points; [0-9]+ points left$/).waitFor();
    assert.ok(answers.every(({ status }) => status === 200));
    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }));
    assert.ok(!stored.includes(credentials.clientSecret), "other tabs don't know the secret");
    // An example opens in a tab of the editor, and one is still logged in
    await page.getByLabel("Examples").selectOption("Products running low");
    await page.locator(".graphiql-query-editor").getByText("availableStock").first().waitFor();
    await page.getByText(/^Would cost 3 of at most/).waitFor();
    await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
    await page
      .locator(".graphiql-doc-explorer-content")
      .getByRole("link", { name: "Query", exact: true })
      .click();
    await page.getByText("Scopes: products:read.").first().waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("button", { name: "Log in" }).waitFor();
    await context.close();
  });

  test("every example works, in every version", async () => {
    const token = await service.token({ read: "all", write: ["warehouses"] });
    for (const { title, query } of examples) {
      const { body } = await service.ask(token, { query });
      assert.equal(body.errors, undefined, `${title} ${JSON.stringify(body.errors)}`);
      const [answer] = Object.values<any>(body.data);
      assert.ok(answer.edges ? answer.edges.length > 0 : answer.userErrors.length === 0, title);
      for (const { slug } of versions) {
        const sdl = await readFile(new URL(`../../schema/${slug}.graphql`, import.meta.url), "utf8");
        assert.deepEqual(validate(buildSchema(sdl), parse(query)), [], `${title} in ${slug}`);
      }
    }
  });

  test("what would be refused has no cost, and telling it takes no points", async () => {
    const token = await service.token({ read: "all" });
    const headers = { "x-cost-only": "true" };
    const { body } = await service.ask(token, { query: examples[0]!.query }, { headers });
    assert.deepEqual(Object.keys(body), ["extensions"]);
    assert.equal(body.extensions.cost.requested, 4);
    assert.deepEqual((await service.ask(token, { query: "{ nope }" }, { headers })).codes, [
      "GRAPHQL_VALIDATION_FAILED",
    ]);
  });

  test("reads the schema again by itself when the database has changed it", async () => {
    const context = await browser.newContext({ baseURL: service.url });
    const page = await context.newPage();
    const introspections: Request[] = [];
    page.on("requestfinished", (request) => {
      if (request.postData()?.includes("IntrospectionQuery")) introspections.push(request);
    });
    const listening = page.waitForRequest((request) => request.url().endsWith("/explorer/unstable/changes"));
    await page.goto("/explorer/unstable");
    await listening;
    await logIn(page, await service.credential());
    await until(() => introspections.length > 0);
    const text = async () => (await (await introspections.at(-1)!.response())!.text()).includes("tagsAgain");
    assert.equal(await text(), false);
    const count = introspections.length;
    await service.owner.query(`
      create view api_unstable.tags_agains with (security_invoker = true) as select id, name from erp.tag;
      comment on view api_unstable.tags_agains is E'@primaryKey id\\n@requiresScopes tags:read\\nTags.'`);
    assert.deepEqual(await service.app.reload(), ["unstable"]);
    // Roles with memberships belong to the schema, and other tests may make some on this server meanwhile
    await until(async () => (await service.app.reload()).length === 0);
    await until(() => introspections.length > count);
    assert.equal(await text(), true);
    await context.close();
  });
});
