import { readdir, readFile } from "node:fs/promises";
import type { ClientBase } from "pg";
import type { UnplacedFinding } from "./finding.ts";
import type { CheckStep } from "./check-source.ts";

const folder = new URL("../../db/lint/", import.meta.url);

/** A query of db/lint, which must return no rows. */
export interface Lint {
  /** Its file name, without the extension. */
  name: string;
  /** The fault and why it is wrong: the comment at the beginning, up to the remedy. */
  why: string;
  /** How to fix it; `OBJECT` stands for the found object. */
  remedy: string;
  query: string;
}

/** Reads all queries of db/lint. */
export async function readLints(): Promise<Lint[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (file) => {
      const query = await readFile(new URL(file, folder), "utf8");
      const [comment] = /^(--.*\n)+/.exec(query)!;
      const [why, remedy = ""] = comment.replace(/^-- ?/gm, "").split("Remedy:");
      const name = file.replace(".sql", "");
      return { name, why: joinLines(why!), remedy: joinLines(remedy), query };
    }),
  );
}

const joinLines = (text: string) => text.trim().replaceAll("\n", " ");

/** Runs a lint and returns its findings, without their places. */
export async function runLint(
  client: ClientBase,
  { name, why, remedy, query }: Lint,
): Promise<UnplacedFinding[]> {
  const { rows } = await client.query<Record<string, unknown>>(query).catch((cause: Error) => {
    throw new Error(`${name}: ${cause.message}`, { cause });
  });
  return rows.map((row) => {
    const [object, ...rest] = Object.values(row).map(String);
    return {
      rule: name,
      severity: "error",
      object: object!,
      what: rest.join(": "),
      why,
      remedy: remedy.replaceAll("OBJECT", object!),
    };
  });
}

/** All queries of db/lint. */
export const lints: CheckStep = {
  name: "db/lint",
  async find({ client }) {
    const found: UnplacedFinding[] = [];
    for (const lint of await readLints()) found.push(...(await runLint(client, lint)));
    return found;
  },
};
