import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Request } from "playwright-core";
import { skipBrowser, startChromium } from "../lib/chromium.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

describe("the explorer in a browser", { skip: skipBrowser }, () => {
  let service: TestService;
  let browser: Browser;
  before(async () => {
    browser = await startChromium();
    service = await startService({ settings: { explorer: true } });
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  test("reads the schema again by itself when the database has changed it", async () => {
    const token = await service.token();
    const context = await browser.newContext({ baseURL: service.url });
    const page = await context.newPage();
    // As somebody enters it under Headers
    await page.route("**/api/graphql/unstable", (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${token}` } }),
    );
    const introspections: Request[] = [];
    page.on("requestfinished", (request) => {
      if (request.postData()?.includes("IntrospectionQuery")) introspections.push(request);
    });
    const listening = page.waitForRequest((request) => request.url().endsWith("/explorer/unstable/changes"));
    await page.goto("/explorer/unstable");
    await listening;
    await until(() => introspections.length > 0);
    const text = async () => (await (await introspections.at(-1)!.response())!.text()).includes("tagsAgain");
    assert.equal(await text(), false);
    const count = introspections.length;
    await service.owner.query(`
      create view api_unstable.tags_agains with (security_invoker = true) as select id, name from erp.tag;
      comment on view api_unstable.tags_agains is E'@primaryKey id\\n@requiresScopes tags:read\\nTags.'`);
    assert.deepEqual(await service.app.reload(), ["unstable"]);
    assert.deepEqual(await service.app.reload(), []);
    await until(() => introspections.length > count);
    assert.equal(await text(), true);
    await context.close();
  });
});
