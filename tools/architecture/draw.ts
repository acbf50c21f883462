import { readFile, writeFile } from "node:fs/promises";
import { atTheCommandLine } from "../../src/commands/command-line.ts";
import { pictureOf } from "./picture.ts";

/** Replaces the first picture in a text. */
export const withPicture = (text: string, picture: string): string =>
  text.replace(/```mermaid\n[^`]*```/, () => `\`\`\`mermaid\n${picture}\n\`\`\``);

const usage = `Draws the rooms, with their present imports, in docs/architecture.md.

Usage: npm run architecture
`;

if (import.meta.main)
  await atTheCommandLine({ usage }, async () => {
    const file = new URL("../../docs/architecture.md", import.meta.url);
    const { readImports } = await import("./cruise.ts");
    const picture = pictureOf(await readImports(["src", "plugins"]));
    await writeFile(file, withPicture(await readFile(file, "utf8"), picture));
  });
