import { readdir, readFile } from "node:fs/promises";
import type { ClientBase } from "pg";

const folder = new URL("../../db/lint/", import.meta.url);

/** A query of db/lint, which must find nothing. */
export interface Lint {
  /** Its file, without the ending. */
  name: string;
  /** What it finds, and why that is a fault, from the comment at its beginning. */
  reason: string;
  query: string;
}

/** All queries of db/lint. */
export async function readLints(): Promise<Lint[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (file) => {
      const query = await readFile(new URL(file, folder), "utf8");
      const [comment] = /^(--.*\n)+/.exec(query)!;
      return { name: file.replace(".sql", ""), reason: comment.replace(/^-- ?/gm, "").trim(), query };
    }),
  );
}

/** What a lint has found, for whoever is to mend it; null when that is nothing. */
export async function faultOf(client: ClientBase, { name, reason, query }: Lint): Promise<string | null> {
  const { rows } = await client.query<Record<string, unknown>>(query);
  if (rows.length === 0) return null;
  const found = rows.map((row) => `  ${Object.values(row).join(": ")}`).join("\n");
  return `db/lint/${name}.sql finds:\n${found}\n${reason}`;
}

/** What all lints have found. */
export async function lint(client: ClientBase): Promise<string[]> {
  const faults: string[] = [];
  for (const one of await readLints()) {
    const fault = await faultOf(client, one);
    if (fault !== null) faults.push(fault);
  }
  return faults;
}
