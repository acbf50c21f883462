import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

/** Reason to skip tests in a browser; false when they are to run. Only ever on request. */
export const skipBrowser = process.env.SKIP_BROWSER === "true" && "SKIP_BROWSER is set";

/** Quiet, and without a sandbox, which needs rights that containers don't give. */
const options = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

/** Starts the Chromium of CHROMIUM, or that of the system. */
export async function startChromium(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(
      `There is no browser at ${executablePath}. Install Chromium (on Debian: apt-get install chromium), ` +
        "or set CHROMIUM to the path of one. SKIP_BROWSER=true leaves these tests out.",
    );
  }
  return chromium.launch({ executablePath, args: options });
}
