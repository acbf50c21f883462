import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { actAndLoad, addAxe, openWindow, findViolations } from "../lib/browser-window.ts";
import { skipBrowser, startChromium } from "../lib/chromium.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

/** A page of each kind. */
const paths = [
  ...["", "/unstable", "/unstable/queries", "/unstable/mutations/stockAdjust", "/unstable/types/Product"],
  ...[
    "/unstable/types/UserErrorCode",
    "/events/stock.changed",
    "/tutorials/calling-the-api",
    "/guides/administration",
    "/explanation/architecture",
  ],
  "/nowhere",
].map((path) => `/docs${path}`);

describe("the documentation in a browser", { skip: skipBrowser }, () => {
  let service: TestService;
  let browser: Browser;
  before(async () => {
    browser = await startChromium();
    service = await startService();
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  const open = (options: BrowserContextOptions = {}) =>
    openWindow(
      browser,
      { baseURL: service.url, viewport: { width: 1440, height: 900 }, ...options },
      /status of 404/,
    );

  test("no page has a fault that axe knows of, in light and dark, and each fits a phone", async () => {
    const { page, faults } = await open();
    await addAxe(page);
    for (const path of paths) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto(path);
      assert.deepEqual(await findViolations(page), [], path);
      await page.emulateMedia({ colorScheme: "dark" });
      assert.deepEqual(await findViolations(page, ["color-contrast"]), [], `${path}, dark`);
      await page.setViewportSize({ width: 360, height: 780 });
      const width = await page.evaluate("document.documentElement.scrollWidth");
      assert.equal(width, 360, `${path} fits a phone`);
    }
    assert.deepEqual(faults, []);
  });

  test("the search is used by the keyboard alone", async () => {
    const { page, faults } = await open();
    await page.goto("/docs/unstable");
    await page.keyboard.press("/");
    await page.keyboard.type("stockadj");
    await page.getByRole("option", { name: /^stockAdjust Mutation/ }).waitFor();
    const chosen = page.getByRole("option", { selected: true });
    assert.match((await chosen.textContent())!, /^stockAdjustMutation/);
    await actAndLoad(page, () => page.keyboard.press("Enter"));
    await page.getByRole("heading", { name: "stockAdjust", level: 1 }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("qwxzjk vvvv");
    await page.getByText("Nothing was found.").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#found").isHidden(), true);
    await page.keyboard.type("PRODUCT_HAS");
    await page.getByRole("option", { name: /^UserErrorCode.PRODUCT_HAS_VARIANTS/ }).click();
    await page.waitForURL("**/types/UserErrorCode#PRODUCT_HAS_VARIANTS");
    assert.deepEqual(faults, []);
  });

  test("on a phone the menu is behind a button; without scripts it is there, and so is everything", async () => {
    const phone = { viewport: { width: 390, height: 800 } };
    const { page } = await open(phone);
    await page.goto("/docs/reference/requests");
    const menu = page.getByRole("navigation", { name: "Documentation" });
    assert.equal(await menu.isVisible(), false);
    await page.getByRole("button", { name: "Menu" }).click();
    await menu.getByRole("link", { name: "Mutations" }).last().click();
    await page.getByRole("heading", { name: "Mutations", level: 1 }).waitFor();
    const { page: plain } = await open({ ...phone, javaScriptEnabled: false });
    await plain.goto("/docs/reference/requests");
    assert.equal(await plain.getByRole("searchbox").count(), 0);
    await plain
      .getByRole("navigation", { name: "Documentation" })
      .getByRole("link", { name: "Queries" })
      .click();
    await plain.getByRole("link", { name: "orders", exact: true }).click();
    await plain.getByRole("heading", { name: "orders", level: 1 }).waitFor();
  });

  test("programs are shown in one language, by the keyboard too, and the choice is kept", async () => {
    const { page } = await open();
    await page.goto("/docs/tutorials/calling-the-api");
    await page.getByRole("tab", { name: "Shell", selected: true }).click();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tabpanel", { name: "Python" }).waitFor();
    assert.equal(await page.getByRole("tabpanel").count(), 1);
    await page.reload();
    await page.getByRole("tab", { name: "Python", selected: true }).waitFor();
  });

  test("code can be copied", async () => {
    const { page } = await open({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto("/docs/unstable/queries/orders");
    await page.getByRole("button", { name: "Copy GraphQL" }).click();
    await page.getByText("Copied.").waitFor();
    assert.match(String(await page.evaluate("navigator.clipboard.readText()")), /^query Orders \{/);
  });
});
