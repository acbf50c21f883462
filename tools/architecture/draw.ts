import { readFile, writeFile } from "node:fs/promises";
import { readImports } from "./cruise.ts";
import { pictureOf } from "./picture.ts";

/** Puts a picture in the place of the first that a text has. */
export const withPicture = (text: string, picture: string): string =>
  text.replace(/```mermaid\n[^`]*```/, () => `\`\`\`mermaid\n${picture}\n\`\`\``);

// Writes the picture of the rooms, as the imports are now, into the documentation.
if (import.meta.main) {
  const file = new URL("../../docs/architecture.md", import.meta.url);
  const picture = pictureOf(await readImports(["src", "plugins"]));
  await writeFile(file, withPicture(await readFile(file, "utf8"), picture));
}
