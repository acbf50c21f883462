import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { createAdministrator } from "../../src/auth/administrators.ts";
import { versions } from "../../src/versions/versions.ts";
import { query, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { actAndLoad, addAxe, openWindow, findViolations } from "../lib/browser-window.ts";
import { skipBrowser, startChromium } from "../lib/chromium.ts";
import { HttpBrowser, password } from "./browser.ts";

describe("the administration in a browser", { skip: skipBrowser }, () => {
  let service: TestService;
  let browser: Browser;
  /** Of a visitor who has logged in. */
  let session: BrowserContextOptions;
  before(async () => {
    browser = await startChromium();
    service = await startService({ versions, settings: { explorer: true } });
    await createAdministrator(service.owner, "anna@example.com", password);
    const visitor = new HttpBrowser(service.url);
    await visitor.logIn("anna@example.com");
    const cookies = [...visitor.cookies].map(([name, value]) => ({
      ...{ name, value, domain: "127.0.0.1", path: "/", expires: -1 },
      ...{ httpOnly: true, secure: false, sameSite: "Lax" as const },
    }));
    session = { storageState: { cookies, origins: [] } };
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  const open = (options: BrowserContextOptions = {}) =>
    openWindow(
      browser,
      { baseURL: service.url, viewport: { width: 1280, height: 900 }, ...options },
      /status of 4\d\d/,
    );

  async function logIn(page: Page): Promise<void> {
    await page.goto("/admin");
    await page.getByLabel("Name or e-mail address").fill("anna@example.com");
    await page.getByLabel("Password").fill(password);
    await actAndLoad(page, () => page.getByRole("button", { name: "Log in" }).click());
    await page.getByRole("heading", { name: "API credentials", level: 1 }).waitFor();
  }

  /** Looks for barriers to accessibility, in light and dark mode, on a phone and a wide screen. */
  async function inspect(page: Page, name: string): Promise<void> {
    assert.equal(page.frames().length, 1);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const isTooWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      assert.equal(isTooWide, false, `${name} fits ${width} pixels`);
      assert.deepEqual(await findViolations(page), [], `${name}, ${width} pixels`);
    }
    // Only contrast depends on the colours, and colours don't on the width
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await findViolations(page, ["color-contrast"]), [], `${name}, dark`);
    await page.emulateMedia({ colorScheme: "light" });
  }

  /** An unhealthy subscription whose receiver responds with text that could break a page. Returns the path of its page. */
  async function hostileWebhook(): Promise<string> {
    const { rows } = await service.owner.query(
      `with subscription as (
         insert into events.webhook_subscription (topic, url, api_version, fields, payload_query, health, health_reason, backlog_count)
         values ('product.updated', 'https://' || repeat('long.', 30) || 'example.com/' || repeat('x', 1500), 'unstable', '{name,gtin}',
           'query ($id: ID!) { product(id: $id) { name } } #' || repeat('y', 500), 'DEGRADED', repeat('Broken', 60), 12345) returning id
       ), delivery as (
         insert into events.delivery (subscription_id, event_id, entity_id, attempts) select id, gen_random_uuid(), id, 2 from subscription returning id
       ), attempt as (
         insert into events.delivery_attempt (delivery_id, number, duration_ms, status, error, request_headers, response_headers, response_body)
         select id, n, 15000, case n when 2 then 500 end, 'The response was 500.', '{"webhook-id": "1"}', jsonb_build_object('x-long', repeat('z', 9000)),
           case n when 2 then '</pre></main><script>throw new Error("run")</script>' || repeat('w', 4000) end
         from delivery, generate_series(1, 2) n
       )
       select id from subscription`,
    );
    return `/admin/webhooks/${rows[0].id}`;
  }

  test("no page has a fault that axe knows of, at 360 and 1280 pixels, nor in dark", async () => {
    const { page, faults } = await open();
    await addAxe(page);
    const press = (name: string) => actAndLoad(page, () => page.getByRole("button", { name }).click());
    await page.goto("/admin/log-in");
    await inspect(page, "log-in");
    await press("Log in");
    await inspect(page, "log-in with errors");
    await logIn(page);
    await inspect(page, "no API credentials yet");
    await page.goto("/admin/tokens/new");
    await inspect(page, "new API credential");
    await press("Create API credential");
    await inspect(page, "new API credential with errors");
    await page
      .getByLabel("Name")
      .fill("Warehouse app, with a rather long name that has to be broken somewhere");
    await page.getByRole("button", { name: "Write", exact: true }).click();
    await press("Create API credential");
    await inspect(page, "secret");
    const secret = (await page.locator("#secret").textContent())!;
    const clientId = (await page.locator("#client-id").textContent())!;
    await actAndLoad(page, () => page.getByRole("link", { name: "I have copied it" }).click());
    const path = new URL(page.url()).pathname;
    const token = await service.tokenFor({ id: "", clientId, clientSecret: secret });
    await service.ask(token, { query });
    await service.owner.query(
      `select auth.record_use(jsonb_build_array(jsonb_build_object('credential_id', $1::text, 'day', current_date, 'version', version,
         'deprecated_field', field, 'requests', 12345, 'last_used_at', now())))
       from (values ('unstable', ''), ('2026-06-unstable', ''), ('unstable', 'Product.weight')) as use (version, field)`,
      [path.split("/").at(-1)],
    );
    await page.goto(`${path}/rotate`);
    await inspect(page, "rotate");
    await page.getByText("After 24 hours").click();
    await press("Rotate API credential");
    await inspect(page, "rotated");
    for (const name of ["", "/change", "/delete", "/deactivate"]) {
      await page.goto(path + name);
      await inspect(page, `API credential${name}`);
    }
    for (const { path, name } of sections) {
      await page.goto(`/admin${path}`);
      await page.getByRole("heading", { name, level: 1 }).waitFor();
      await inspect(page, name);
    }
    await service.owner.query(
      `select auth.record_operations(jsonb_build_array(jsonb_build_object('id', '0123456789abcdef', 'version', 'unstable', 'name', repeat('Long', 16),
         'document', 'query{' || repeat('products{edges{node{id}}} ', 40) || '}', 'credential_id', $1::text, 'day', current_date, 'requests', 12345, 'ms', 98765.4,
         'slowest_ms', 4321, 'statement', 'select id from api_unstable.customers where first_name = $1 /*<script>throw new Error("run")</script>' || repeat('w', 500) || '*/')))`,
      [path.split("/").at(-1)],
    );
    for (const [path, name] of [
      ["/operations", "operations"],
      ["/operations/0123456789abcdef", "operation"],
    ]) {
      await page.goto(`/admin${path}`);
      await page.getByText("LongLong").first().waitFor();
      await inspect(page, name!);
    }
    const webhook = await hostileWebhook();
    for (const path of ["/admin/webhooks", webhook, `${webhook}/disable`, `${webhook}/stop`]) {
      await page.goto(path);
      await inspect(page, path);
    }
    await page.goto(webhook);
    const delivery = page.getByRole("region", { name: "Table of deliveries" }).getByRole("link");
    await actAndLoad(page, () => delivery.click());
    await page.getByText("<script>throw").waitFor();
    await inspect(page, "delivery");
    await page.goto("/admin/account");
    await press("Change password");
    await inspect(page, "password with errors");
    await page.goto("/admin/nothing");
    await inspect(page, "nothing here");
    assert.deepEqual(faults, []);
  });

  test("a table is shown in full where the screen has room for it", async () => {
    const { page } = await open({ ...session, viewport: { width: 1440, height: 900 } });
    const { rows } = await service.owner.query(
      `with subscription as (
         insert into events.webhook_subscription (topic, url, api_version)
         values ('stock_movement.created', 'https://hooks.shop.example/', 'unstable') returning id
       ), event as (
         insert into events.event (sequence, id, topic, subject_id, entity_id, data, cause, occurred_at)
         values (9000000, gen_random_uuid(), 'stock_movement.created', uuidv7(), uuidv7(), '{}', '{}', now()) returning sequence, id, entity_id
       ), delivery as (
         insert into events.delivery (subscription_id, sequence, event_id, entity_id, attempts)
         select s.id, e.sequence, e.id, e.entity_id, 1 from subscription s, event e returning id
       ), attempt as (
         insert into events.delivery_attempt (delivery_id, number, duration_ms, error, request_headers)
         select id, 1, 15000, 'The name hooks.shop.example leads to no address: ENOTFOUND.', '{}' from delivery
       )
       select id from subscription`,
    );
    await page.goto(`/admin/webhooks/${rows[0].id}`);
    const table = page.getByRole("region", { name: "Table of deliveries" });
    const [seen, whole] = await table.evaluate((region) => [region.clientWidth, region.scrollWidth]);
    assert.equal(whole, seen, "nothing is cut off");
  });

  test("an API credential can be created with the keyboard alone, and the focus is visible", async () => {
    const { page } = await open(session);
    /** Presses Tab until an element has the focus. */
    const go = async (selector: string) => {
      for (let presses = 0; presses < 60; presses++) {
        await page.keyboard.press("Tab");
        if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
      }
      assert.fail(`the keyboard doesn't get to ${selector}`);
    };
    await page.goto("/admin/tokens");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Skip to content");
    await page.keyboard.press("Enter");
    await go("a[href='/admin/tokens/new']");
    await actAndLoad(page, () => page.keyboard.press("Enter"));
    await go("#name");
    await page.keyboard.type("By keyboard");
    await go("[name='access.stocks']");
    const outline = await page.evaluate(
      () => getComputedStyle(document.activeElement!.nextElementSibling!).outlineStyle,
    );
    assert.equal(outline, "solid");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await go("button.main");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "API credential created" }).waitFor();
    const { rows } = await service.owner.query(
      "select scopes from auth.credential where name = 'By keyboard'",
    );
    assert.deepEqual(rows, [{ scopes: ["stocks:read", "stocks:write"] }]);
  });

  test("everything can be done without JavaScript", async () => {
    const { page } = await open({ javaScriptEnabled: false });
    await logIn(page);
    await actAndLoad(page, () => page.getByRole("link", { name: "New API credential" }).click());
    assert.equal(await page.getByText("Set all to").isVisible(), false);
    await page.getByLabel("Name").fill("Without script");
    await page.getByRole("group", { name: "Warehouses", exact: true }).getByLabel("Write").check();
    await actAndLoad(page, () => page.getByRole("button", { name: "Create API credential" }).click());
    assert.equal(await page.getByRole("button", { name: /^Copy/ }).count(), 0, "no buttons that do nothing");
    const credentials = {
      id: "",
      clientId: (await page.locator("#client-id").textContent())!,
      clientSecret: (await page.locator("#secret").textContent())!,
    };
    await service.tokenFor(credentials);
    await page.getByRole("link", { name: "I have copied it" }).click();
    await page.getByRole("link", { name: "Deactivate" }).click();
    await page.getByRole("button", { name: "Deactivate API credential" }).click();
    await page.getByText("The API credential has been deactivated.").waitFor();
    await page.getByRole("button", { name: "Activate" }).click();
    await page.getByText("The API credential works again.").waitFor();
    await page.getByRole("link", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete API credential" }).click();
    await page.getByText("The API credential has been deleted.").waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByText("You have logged out.").waitFor();
  });

  test("buttons copy, and set all levels at once; both are said to who can't see it", async () => {
    const { page, faults } = await open({
      ...session,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.goto("/admin/tokens/new");
    for (const level of ["Write", "None", "Read"]) {
      await page.getByRole("button", { name: level, exact: true }).click();
      const radios = await page.locator(`[name^="access."][value="${level.toLowerCase()}"]`).all();
      for (const radio of radios) assert.ok(await radio.isChecked());
      assert.equal(await page.locator("#announcement").textContent(), `All set to ${level}.`);
    }
    await page.getByLabel("Name").fill("Copied");
    await page.getByRole("button", { name: "Create API credential" }).click();
    await page.getByRole("button", { name: "Copy: Client secret" }).click();
    await page.getByText("Client secret copied.").waitFor();
    assert.equal(
      await page.evaluate("navigator.clipboard.readText()"),
      await page.locator("#secret").textContent(),
    );
    assert.deepEqual(faults, []);
  });

  test("after an error the summary has the focus, and leads to the field", async () => {
    const { page } = await open(session);
    await page.goto("/admin/tokens/new");
    await page.getByRole("button", { name: "Create API credential" }).click();
    await page.locator("[role=alert]:focus").waitFor();
    await page.getByRole("link", { name: "Enter a name for the API credential." }).click();
    await page.locator("#name:focus").waitFor();
    await page.keyboard.type("From the summary");
    assert.equal(await page.getByLabel("Name").inputValue(), "From the summary");
  });

  test("the explorer opens from here, logged in, with its history", async () => {
    const { page } = await open(session);
    await page.goto("/admin");
    await page.getByRole("link", { name: "Explorer" }).click();
    await page.getByRole("button", { name: "None", exact: true }).click();
    await page.getByRole("group", { name: "Orders", exact: true }).getByLabel("Read").check();
    await page.getByRole("button", { name: "Open the explorer" }).click();
    await page.waitForURL("**/explorer/unstable");
    await page.getByText(/^ak_.*…, 1 scope$/).waitFor();
    await page.getByRole("button", { name: "Show History" }).waitFor();
    // The page with the secret is not among those that one can go back to
    await page.goBack();
    await page.getByRole("heading", { name: "Explorer", level: 1 }).waitFor();
  });

  test("after the session has ended, logging in leads back", async () => {
    const { page } = await open();
    await logIn(page);
    await service.owner.query("delete from auth.administrator_session");
    await page.goto("/admin/account");
    await page.getByText("Your session has ended.").waitFor();
    await page.getByLabel("Name or e-mail address").fill("anna@example.com");
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Account" }).waitFor();
  });
});

/** Sections of the navigation, with their headings. */
const sections = [
  { path: "/tokens", name: "API credentials" },
  { path: "/webhooks", name: "Webhooks" },
  { path: "/versions", name: "Versions" },
  { path: "/plan", name: "Plan" },
  { path: "/reports", name: "Reports" },
  { path: "/reports/stock?day=2026-01-31", name: "Stock now and then" },
  { path: "/reports/stock_card?product_number=AU-0001-30", name: "Stock card" },
  { path: "/reports/value", name: "Value of the stock" },
  { path: "/reports/closed_periods", name: "Closed periods" },
  { path: "/reports/trace", name: "Trace of a batch" },
  { path: "/reports/sourcing", name: "Sourcing of past orders" },
  { path: "/reports/stocktake", name: "Differences of a stocktake" },
  { path: "/reports/stocktake_progress", name: "Stocktakes and their progress" },
  { path: "/operations", name: "Operations" },
  { path: "/activity", name: "Activity" },
  { path: "/explorer", name: "Explorer" },
  { path: "/account", name: "Account" },
];
