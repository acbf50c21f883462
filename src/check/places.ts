import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { migrationsFolder, listSqlFiles } from "../migrations/migration-files.ts";
import type { Place } from "../migrations/migration-files.ts";
import type { Script } from "./script.ts";

const creation =
  /^ *create (?:or replace )?(?:unlogged |materialized |recursive )*(?:table|view|function|procedure|type|domain|schema|sequence) (?:if not exists )?([\w".]+)/i;

/** Knows which files define the objects of the database. */
export class Places {
  readonly #scripts: readonly Script[];
  #creations: Promise<Map<string, Place>> | undefined;

  /** @param scripts uncommitted migrations, which are searched first */
  constructor(scripts: readonly Script[]) {
    this.#scripts = scripts;
  }

  /**
   * Finds the place that creates an object, or that changes it in an uncommitted migration; null when no file names it.
   *
   * @param object its name with its schema, as Postgres prints it; with the parameters of a function, or a column
   */
  async find(object: string): Promise<Place | null> {
    const name = object.replace(/\(.*$/s, "");
    for (const wanted of new Set([name, name.replace(/\.[^.]*$/, "")])) {
      if (!wanted.includes(".")) continue;
      const place = this.#findInScripts(wanted) ?? (await this.#readCreations()).get(wanted) ?? null;
      if (place !== null) return place;
    }
    return null;
  }

  /** Finds the statement that creates an object, or else the last one that names it. */
  #findInScripts(name: string): Place | undefined {
    const word = new RegExp(`(?<![\\w.])${RegExp.escape(name)}(?![\\w])`);
    const naming = this.#scripts.flatMap(({ statements }) =>
      statements.filter(({ text }) => word.test(text)),
    );
    const making = naming.find(({ text }) => creation.exec(text)?.[1] === name);
    return (making ?? naming.at(-1))?.place;
  }

  #readCreations(): Promise<Map<string, Place>> {
    return (this.#creations ??= readCreations());
  }
}

/** Finds where fixtures and committed migrations create objects; the newest place counts. */
async function readCreations(): Promise<Map<string, Place>> {
  const made = new Map<string, Place>();
  for (const folder of ["committed", "fixtures"] as const) {
    for (const name of await listSqlFiles(folder)) {
      const text = await readFile(join(migrationsFolder, folder, name), "utf8");
      for (const [index, line] of text.split("\n").entries()) {
        const [, object] = creation.exec(line) ?? [];
        if (object !== undefined) made.set(object, { file: `db/${folder}/${name}`, line: index + 1 });
      }
    }
  }
  return made;
}
