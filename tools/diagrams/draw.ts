import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { Program, run } from "../../src/commands/program.ts";
import { diagramFile, diagramFolder, diagramsIn } from "../../src/documentation/diagrams.ts";
import { guides } from "../../src/documentation/guides.ts";

/** The colours of light mode. In dark mode, the page replaces them. */
const themeVariables = {
  ...{ background: "#ffffff", mainBkg: "#e6f0f7", primaryColor: "#e6f0f7", primaryBorderColor: "#1f5f8b" },
  ...{ nodeBorder: "#1f5f8b", actorBorder: "#1f5f8b", actorBkg: "#e6f0f7", clusterBkg: "#f5f6f8" },
  ...{
    primaryTextColor: "#1b232c",
    textColor: "#1b232c",
    lineColor: "#55606d",
    edgeLabelBackground: "#ffffff",
  },
  ...{ rowOdd: "#ffffff", rowEven: "#f5f6f8", fontSize: "15px" },
  fontFamily: "system-ui, -apple-system, 'Segoe UI', sans-serif",
};
const configuration = { startOnLoad: false, securityLevel: "strict", theme: "base", themeVariables };

interface Mermaid {
  initialize: (options: object) => void;
  render: (id: string, source: string) => Promise<{ svg: string }>;
}

/** Draws each diagram as an SVG image. */
async function draw(browser: Browser, sources: readonly string[]): Promise<string[]> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.setContent('<!doctype html><html lang="en"><body></body></html>');
  const script = new URL("mermaid.min.js", import.meta.resolve("mermaid"));
  await page.addScriptTag({ path: fileURLToPath(script) });
  const drawn: string[] = [];
  for (const source of sources)
    drawn.push(
      await page.evaluate(
        async ({ text, options }) => {
          const { mermaid } = window as unknown as { mermaid: Mermaid };
          mermaid.initialize(options);
          const holder = document.createElement("div");
          holder.innerHTML = (await mermaid.render("diagram", text)).svg;
          const picture = holder.querySelector("svg")!;
          // An image file needs its own size
          const { width, height } = picture.viewBox.baseVal;
          picture.setAttribute("width", String(Math.ceil(width)));
          picture.setAttribute("height", String(Math.ceil(height)));
          picture.removeAttribute("style");
          return new XMLSerializer().serializeToString(picture);
        },
        { text: source, options: configuration },
      ),
    );
  return drawn;
}

async function drawMissing(): Promise<void> {
  const root = new URL("../../", import.meta.url);
  const files = [...guides.map(({ file }) => file), "README.md"];
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, root), "utf8")));
  const sources = new Map(texts.flatMap(diagramsIn).map((source) => [diagramFile(source), source]));
  await mkdir(diagramFolder, { recursive: true });
  const present = await readdir(diagramFolder);
  for (const file of present) if (!sources.has(file)) await rm(new URL(file, diagramFolder));
  const missing = [...sources].filter(([file]) => !present.includes(file));
  if (missing.length === 0) return;
  const { startChromium } = await import("../../test/lib/chromium.ts");
  const browser = await startChromium();
  try {
    const pictures = await draw(
      browser,
      missing.map(([, source]) => source),
    );
    for (const [index, [file]] of missing.entries())
      await writeFile(new URL(file, diagramFolder), `${pictures[index]!}\n`);
  } finally {
    await browser.close();
  }
}

if (import.meta.main) {
  const program = new Program("draw").description(
    "Draws the diagrams of the guides and of the README that aren't drawn yet, in docs/diagrams. Needs a browser, as tests do.",
  );
  await run(program.action(drawMissing));
}
