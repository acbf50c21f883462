import { readFile, writeFile } from "node:fs/promises";
import { readImports } from "./cruise.ts";
import { pictureOf } from "./picture.ts";

/** Replaces the first picture in a text. */
export const withPicture = (text: string, picture: string): string =>
  text.replace(/```mermaid\n[^`]*```/, () => `\`\`\`mermaid\n${picture}\n\`\`\``);

// Writes the picture of the rooms, from their present imports, into the documentation.
if (import.meta.main) {
  const file = new URL("../../docs/architecture.md", import.meta.url);
  const picture = pictureOf(await readImports(["src", "plugins"]));
  await writeFile(file, withPicture(await readFile(file, "utf8"), picture));
}
