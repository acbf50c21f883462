import { readFile, writeFile } from "node:fs/promises";
import { Program, run } from "../../src/commands/program.ts";
import { drawRooms } from "./picture.ts";

/** Replaces the first picture in a text. */
export const withPicture = (text: string, picture: string): string =>
  text.replace(/```mermaid\n[^`]*```/, () => `\`\`\`mermaid\n${picture}\n\`\`\``);

async function draw(): Promise<void> {
  const file = new URL("../../docs/explanation/architecture.md", import.meta.url);
  const { readImports } = await import("./cruise.ts");
  const picture = drawRooms(await readImports(["src", "plugins"]));
  await writeFile(file, withPicture(await readFile(file, "utf8"), picture));
}

if (import.meta.main) {
  const program = new Program("draw").description(
    "Draws the rooms, with their present imports, in docs/explanation/architecture.md.",
  );
  await run(program.action(draw));
}
