import type { Setting } from "./setting.ts";

const generated = "`npx erp settings` writes this from src/process/settings/.";

/** `.env.example`: every setting with its explanation, commented out. */
export function printEnvironmentFile(topics: Record<string, Setting<unknown>[]>): string {
  const head = comment(
    `Every setting of the service, with its default. Copy this file to .env, or set them as environment variables, which win over the file. ${generated}`,
  );
  const parts = Object.values(topics).flatMap((settings) =>
    settings.map(({ name, kind, doc, example }) =>
      comment(`${doc} Takes ${kind.expected}.`).concat(`# ${name}=${example}\n`),
    ),
  );
  return [head, ...parts].join("\n");
}

/** docs/reference/settings.md: a table for each topic. */
export function printSettingsPage(topics: Record<string, Setting<unknown>[]>): string {
  const parts = Object.entries(topics).map(([topic, settings]) => {
    const rows = settings.map(({ name, kind, fallback, doc }) =>
      row(`\`${name}\``, fallback ? `\`${fallback}\`` : "", kind.expected, doc),
    );
    return `## ${topic}\n\n${row("Setting", "Unless set", "Takes", "What it does")}|---|---|---|---|\n${rows.join("")}`;
  });
  return `# Settings

Environment variables, or lines of a file \`.env\` in the folder of the project; variables win over the file. A blank one
counts as not set. All are checked at the start. ${generated}

${parts.join("\n")}`;
}

function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
}

/** Lines of a comment, wrapped like those in our sources. */
function comment(text: string): string {
  const lines = [""];
  for (const word of text.replaceAll("`", "").split(" ")) {
    const line = lines.at(-1)!;
    if (line.length + word.length < 115) lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `# ${line}\n`).join("");
}
