import type { Setting } from "./setting.ts";

const generated = "`npx erp settings` writes this from src/process/settings/.";

/** Prints `.env.example`: every setting with its description, commented out. */
export function printEnvironmentFile(topics: Record<string, Setting<unknown>[]>): string {
  const head = comment(
    `Every setting of the service, with its default. Copy this file to .env, or set environment variables, which override the file. ${generated}`,
  );
  const parts = Object.values(topics).flatMap((settings) =>
    settings.map(({ name, kind, doc, example }) =>
      comment(`${doc} Value: ${kind.expected}.`).concat(`# ${name}=${example}\n`),
    ),
  );
  return [head, ...parts].join("\n");
}

/** Prints docs/reference/settings.md: a table for each topic. */
export function printSettingsPage(topics: Record<string, Setting<unknown>[]>): string {
  const parts = Object.entries(topics).map(([topic, settings]) => {
    const rows = settings.map(({ name, kind, fallback, doc }) =>
      row(`\`${name}\``, fallback ? `\`${fallback}\`` : "", kind.expected, doc),
    );
    return `## ${topic}\n\n${row("Setting", "Default", "Value", "Description")}|---|---|---|---|\n${rows.join("")}`;
  });
  return `# Settings

Set them as environment variables, or as lines of a file \`.env\` in the project's folder; variables override the file. A
blank setting counts as not set. All are checked at the start. ${generated}

${parts.join("\n")}`;
}

function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
}

/** Formats a text as lines of a comment, wrapped as in our sources. */
function comment(text: string): string {
  const lines = [""];
  for (const word of text.replaceAll("`", "").split(" ")) {
    const line = lines.at(-1)!;
    if (line.length + word.length < 115) lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `# ${line}\n`).join("");
}
