import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import type { Browser, LaunchOptions } from "playwright-core";

type Environment = Record<string, string | undefined>;

/** The source of a browser. */
export type BrowserSource = { program: string } | "package" | null;

const programs = [
  ...["google-chrome", "google-chrome-stable", "chromium", "chromium-browser"],
  ...["microsoft-edge", "microsoft-edge-stable"],
];
const macApplications = ["Google Chrome", "Chromium", "Microsoft Edge"].map(
  (name) => `${name}.app/Contents/MacOS/${name}`,
);
const windowsApplications = ["Google/Chrome", "Chromium"]
  .map((name) => `${name}/Application/chrome.exe`)
  .concat("Microsoft/Edge/Application/msedge.exe");

/** Returns the paths where a system has browsers, preferred ones first. */
function installedPaths(platform: string, environment: Environment): string[] {
  if (platform === "darwin")
    return macApplications.flatMap((path) => [
      join("/Applications", path),
      join(homedir(), "Applications", path),
    ]);
  if (platform === "win32") {
    const { PROGRAMFILES, "PROGRAMFILES(X86)": programs32, LOCALAPPDATA } = environment;
    const folders = [PROGRAMFILES, programs32, LOCALAPPDATA].filter((folder) => folder !== undefined);
    return windowsApplications.flatMap((path) => folders.map((folder) => join(folder, path)));
  }
  const folders = (environment.PATH ?? "").split(delimiter);
  return programs.flatMap((program) => folders.map((folder) => join(folder, program)));
}

/**
 * Finds a browser: the program in CHROMIUM, an installed Chrome, Chromium or Edge, or the browser of a package for Linux
 * on x64.
 *
 * @returns null when there is none
 * @throws when CHROMIUM names a missing file
 */
export function findBrowser(
  environment: Environment = process.env,
  system: Pick<typeof process, "platform" | "arch"> = process,
  exists = existsSync,
): BrowserSource {
  const { CHROMIUM: wanted } = environment;
  if (wanted) {
    if (!exists(wanted)) throw new Error(`There is no browser at ${wanted}, which CHROMIUM names.`);
    return { program: wanted };
  }
  const program = installedPaths(system.platform, environment).find((path) => exists(path));
  if (program !== undefined) return { program };
  return system.platform === "linux" && system.arch === "x64" ? "package" : null;
}

/** Returns the reason to skip browser tests, or false. With `CI` they always run, and fail without a browser. */
export function skipReason(environment: Environment, source: BrowserSource): string | false {
  if (environment.SKIP_BROWSER === "true") return "SKIP_BROWSER is set";
  if (source !== null || environment.CI) return false;
  return "there is no browser: install Chrome, Chromium or Edge, or set CHROMIUM to the path of one";
}

export const skipBrowser = skipReason(process.env, findBrowser());

/** Arguments for a quiet browser without a sandbox, which needs rights that containers lack. */
const args = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

/** Starts the browser that `findBrowser` finds. */
export async function startChromium(): Promise<Browser> {
  const source = findBrowser();
  if (source === null)
    throw new Error("There is no browser, and CI is set, so the tests in a browser may not be left out.");
  return chromium.launch({
    args,
    ...(source === "package" ? await unpackBrowser() : { executablePath: source.program }),
  });
}

/** Returns the launch options for the package's browser, which is unpacked once. */
async function unpackBrowser(): Promise<LaunchOptions> {
  // Not in a folder where others can write, because it is executed
  const folder = resolve(".data/test/chromium");
  if (!existsSync(folder)) await unpackInto(folder);
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: join(folder, "al2023/lib"),
    FONTCONFIG_FILE: join(folder, "fonts.conf"),
  };
  return { executablePath: join(folder, "chromium"), env };
}

/** Unpacks the browser in another folder first: a program that another process still writes can't be started. */
async function unpackInto(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const made = await mkdtemp(`${folder}-`);
  const { TMPDIR } = process.env;
  process.env.TMPDIR = made;
  try {
    const { default: packed, inflate } = await import("@sparticuz/chromium");
    // Libraries that a small system lacks
    const libraries = new URL("../bin/al2023.tar.br", import.meta.resolve("@sparticuz/chromium"));
    await Promise.all([inflate(fileURLToPath(libraries)), packed.executablePath()]);
    // The package's own configuration looks for fonts only in /tmp, and without a font the browser crashes
    await writeFile(
      join(made, "fonts.conf"),
      `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/cache</cachedir></fontconfig>`,
    );
    // Another process may have been faster
    await rename(made, folder).catch(() => rm(made, { recursive: true }));
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
}
