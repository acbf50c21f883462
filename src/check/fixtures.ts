import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  migrationsFolder,
  readCommitted,
  readCurrent,
  listSqlFiles,
  includeFixtures,
} from "../migrations/migration-files.ts";
import type { Finding } from "./finding.ts";
import type { CheckStep } from "./check-source.ts";

/** Finds fixtures that no migration includes as they are now. A migration may also change only their comments. */
export const forgottenFixtures: CheckStep = {
  name: "fixtures",
  async find({ scripts }) {
    const committed = new Map<string, string>();
    const migrations = (await readCommitted()).map(({ text }) => text);
    for (const text of migrations)
      for (const [, name, own] of text.matchAll(/^--! Included (\S+)\n([^]*?)^--! EndIncluded \1$/gm))
        committed.set(name!, own!);
    const current = await Promise.all((await readCurrent()).map(({ text }) => includeFixtures(text)));
    const newest = new Map([...migrations, ...current].flatMap(commentsIn));
    const isInDatabase = (copy: string | undefined, text: string): boolean =>
      copy !== undefined &&
      withoutComments(copy) === withoutComments(text) &&
      commentsIn(text).every(([object, comment]) => newest.get(object) === comment);
    const pending = new Set(
      [...current, ...scripts.map(({ text }) => text)].flatMap((text) =>
        [...text.matchAll(/^--! Included (\S+)$/gm)].map(([, name]) => name!),
      ),
    );
    const names = await listSqlFiles("fixtures");
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
    return names
      .filter((name, index) => !pending.has(name) && !isInDatabase(committed.get(name), texts[index]!))
      .map((name) => forgotten(name, committed.has(name)));
  },
};

const folder = join(migrationsFolder, "fixtures");

const commentStatement =
  /^comment on ([^;']+?) is\s+(\$\$[^]*?\$\$|[eE]?'(?:[^']|'')*'(?:\s*\n\s*'(?:[^']|'')*')*);$/gm;

/** The objects that a text has comments on, each with its comment. */
const commentsIn = (text: string): [object: string, comment: string][] =>
  [...text.matchAll(commentStatement)].map(([, object, comment]) => [object!.replace(/\s+/g, " "), comment!]);

/** A text without comments on objects, and without lines that are comments outside of functions. */
const withoutComments = (text: string): string =>
  text
    .replace(commentStatement, "")
    .replace(/^--.*\n/gm, "")
    .trim();

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
