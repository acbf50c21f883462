import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  migrationsFolder,
  readCommitted,
  readCurrent,
  sqlFilesIn,
  withIncludes,
} from "../migrations/migration-files.ts";
import type { Finding } from "./finding.ts";
import type { Source } from "./check-source.ts";

/** Finds changed fixtures that no migration includes. */
export const forgottenFixtures: Source = {
  name: "fixtures",
  async find({ scripts }) {
    const committed = new Map<string, string>();
    for (const { text } of await readCommitted())
      for (const [, name, own] of text.matchAll(/^--! Included (\S+)\n([^]*?)^--! EndIncluded \1$/gm))
        committed.set(name!, own!.trim());
    const current = await Promise.all((await readCurrent()).map(({ text }) => withIncludes(text)));
    const pending = new Set(
      [...current, ...scripts.map(({ text }) => text)].flatMap((text) =>
        [...text.matchAll(/^--! Included (\S+)$/gm)].map(([, name]) => name!),
      ),
    );
    const names = await sqlFilesIn("fixtures");
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
    return names
      .filter((name, index) => !pending.has(name) && committed.get(name) !== texts[index]!.trim())
      .map((name) => forgotten(name, committed.has(name)));
  },
};

const folder = join(migrationsFolder, "fixtures");

const forgotten = (name: string, isKnown: boolean): Finding => ({
  rule: "forgotten-fixture",
  severity: "error",
  file: `db/fixtures/${name}`,
  line: 1,
  object: name,
  what: isKnown ? "has been changed" : "is new",
  why: "No migration includes it as it is now, so no database gets it.",
  remedy: `--!include ${name} in a file of db/current.`,
});
