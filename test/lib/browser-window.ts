import axe from "axe-core";
import type { RunOptions } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** A browser window, and the errors in it. */
export interface BrowserWindow {
  page: Page;
  faults: string[];
}

/**
 * Opens a browser window.
 *
 * @param expected console messages about responses that are not errors
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
 * Performs an action that leads to another page, and waits until that page is loaded. Right after a click, the window still
 * has the previous page, perhaps still loading, or a page without a body.
 */
export async function actAndLoad(page: Page, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForEvent("framenavigated", (frame) => frame === page.mainFrame()), act()]);
  await page.waitForLoadState();
}

/** Adds axe to all pages of a window. It is sent once, not for each page. */
export const addAxe = (page: Page): Promise<unknown> => page.addInitScript({ content: axe.source });

/** Returns the violations that axe finds in a page, by all of its rules or by some. */
export const findViolations = (page: Page, runOnly?: string[]): Promise<string[]> =>
  page.evaluate(
    async (options) => {
      const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(options);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    },
    // Reporting passed checks as well takes much longer
    { resultTypes: ["violations"], ...(runOnly && { runOnly }) } satisfies RunOptions,
  );
