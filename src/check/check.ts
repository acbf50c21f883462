import type { ClientBase } from "pg";
import type { CurrentFile } from "../database/migrations/migration-files.ts";
import { readCommitted, readCurrent } from "../database/migrations/migration-files.ts";
import type { Finding } from "./finding.ts";
import { lints } from "./lints.ts";
import { Places } from "./places.ts";
import { readScript } from "./script.ts";
import type { Source, Subject } from "./source.ts";
import { applyWaivers } from "./waivers.ts";

/** Faults of what is being written, which no database is needed for. */
const syntax: Source = {
  name: "syntax",
  find: async ({ scripts }) => scripts.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
};

/** All that is checked, in the order in which it is told. */
export const sources: readonly Source[] = [syntax, lints];

export interface CheckOptions {
  /** What is being written: files of db/current; all of them when not given. */
  current?: readonly CurrentFile[];
  /** What to check; everything when not given. */
  only?: readonly Source[];
}

/**
 * Checks a database, and what is being written for it.
 *
 * @param client the database with db/current in it, as its owner
 * @returns what was found, waived findings too: the worst first, and then by file and line
 */
export async function check(client: ClientBase, options: CheckOptions = {}): Promise<Finding[]> {
  const current = options.current ?? (await readCurrent());
  const scripts = await Promise.all(current.map(readScript));
  const subject: Subject = { client, scripts, places: new Places(scripts) };
  const findings: Finding[] = [];
  for (const source of options.only ?? sources) {
    try {
      findings.push(...(await source.find(subject)));
    } catch (error) {
      findings.push(brokenOff(source, error as Error));
    }
  }
  const committed = (await readCommitted()).map(({ text }) => text);
  return applyWaivers(findings, scripts, committed).sort(byWeight);
}

/** What can't be checked is no reason to take it for right. */
const brokenOff = ({ name }: Source, { message }: Error): Finding => ({
  ...{ rule: "unchecked", severity: "error", file: null, line: null, object: name, what: message },
  why: "This part of the check could not be run, so nobody knows whether it would find something.",
  wayOut: "Mend what the message names, and check again.",
});

const weights = { error: 0, warning: 1, note: 2 };

function byWeight(one: Finding, other: Finding): number {
  const weight = ({ severity, waived }: Finding) => (waived === undefined ? weights[severity] : 3);
  return (
    weight(one) - weight(other) ||
    (one.file ?? "").localeCompare(other.file ?? "") ||
    (one.line ?? 0) - (other.line ?? 0)
  );
}
