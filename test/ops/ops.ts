import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { settingsByTopic } from "../../src/process/settings.ts";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const read = (file: string): string => readFileSync(join(root, file), "utf8");
/** The documents of a YAML file. */
export const yaml = (file: string): any[] => loadAll(read(file), undefined, { filename: file });

export const settingNames = new Set(
  Object.values(settingsByTopic).flatMap((settings) => settings.map(({ name }) => name)),
);

/** The instructions of a Containerfile, with their continued lines joined. */
export function instructionsOf(file: string): { name: string; text: string }[] {
  const lines = read(file)
    .split("\n")
    .filter((line) => !line.startsWith("#"));
  return lines
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => ({ name: line.split(" ", 1)[0]!, text: line.slice(line.indexOf(" ") + 1) }));
}

export const image = instructionsOf("Containerfile");

/** The command that the image runs, without a shell. */
export const imageCommand: readonly string[] = JSON.parse(image.find(({ name }) => name === "CMD")!.text);

/** The files and folders of the project that are in the image. */
export const imageFiles: readonly string[] = image
  .filter(({ name, text }) => name === "COPY" && !text.startsWith("--from="))
  .flatMap(({ text }) => text.split(" ").slice(0, -1));
