import axe from "axe-core";
import type { RunOptions } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** A window of a browser, and the errors in it. */
export interface BrowserWindow {
  page: Page;
  faults: string[];
}

/**
 * Opens a window.
 *
 * @param expected answers that are no errors, as the console tells them
 */
export async function openWindow(
  browser: Browser,
  options: BrowserContextOptions,
  expected: RegExp,
): Promise<BrowserWindow> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (line) => {
    if (line.type() === "error" && !expected.test(line.text())) faults.push(line.text());
  });
  return { page, faults };
}

/**
 * Does something that leads to another page, and waits until that is loaded. Right after a click, the page of before is
 * still there, perhaps still loading, or one without a body.
 */
export async function andLoad(page: Page, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForEvent("framenavigated", (frame) => frame === page.mainFrame()), act()]);
  await page.waitForLoadState();
}

/** Puts axe into all pages of a window. Sent once, not to each page. */
export const bringAxe = (page: Page): Promise<unknown> => page.addInitScript({ content: axe.source });

/** Faults that axe finds, once it is in the page, by all of its rules or by some. */
export const violationsOn = (page: Page, runOnly?: string[]): Promise<string[]> =>
  page.evaluate(
    async (options) => {
      const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(options);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    },
    // It takes much longer to describe what passes too
    { resultTypes: ["violations"], ...(runOnly && { runOnly }) } satisfies RunOptions,
  );
