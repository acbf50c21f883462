import type { ClientBase } from "pg";
import type { CurrentFile } from "../migrations/migration-files.ts";
import { readCommitted, readCurrent } from "../migrations/migration-files.ts";
import { apiDiff, eventDiff } from "./api-diff.ts";
import { dangerousDdl } from "./ddl/ddl.ts";
import type { Finding, UnplacedFinding } from "./finding.ts";
import { forgottenFixtures } from "./fixtures.ts";
import { frozenVersions } from "./frozen.ts";
import { lints } from "./lints.ts";
import type { OldColumns } from "./old-columns.ts";
import { readCommittedColumns } from "./old-columns.ts";
import { indexUse } from "./plans/index-use.ts";
import { policies } from "./plans/policies.ts";
import { Places } from "./places.ts";
import type { Script } from "./script.ts";
import { readScript } from "./script.ts";
import type { CheckStep, CheckInput } from "./check-source.ts";
import type { ApiState } from "./state.ts";
import { applyWaivers } from "./waivers.ts";

/** Checks of migrations that need no database. */
const syntax: CheckStep = {
  name: "syntax",
  find: async ({ scripts }) => scripts.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
};

/** All checks, in the order of the report. */
export const checkSteps: readonly CheckStep[] = [
  syntax,
  dangerousDdl,
  forgottenFixtures,
  frozenVersions,
  apiDiff,
  eventDiff,
  lints,
  indexUse,
  policies,
];

export interface CheckOptions {
  /** The migrations to check: files of db/current; by default all. */
  current?: readonly CurrentFile[];
  /** The same, already read. */
  scripts?: readonly Script[];
  /** The columns of tables that have rows; by default those that committed migrations create. */
  oldColumns?: OldColumns;
  /** The API before these migrations; without it, nothing is compared. */
  before?: ApiState | null;
  /** Reads the API with these migrations. */
  after?: () => Promise<ApiState>;
  /** The database in which the service recorded who uses which field, if it is another one. */
  recorded?: ClientBase;
  /** The checks to run; by default all. */
  only?: readonly CheckStep[];
  /** Stops the run between two checks. */
  signal?: AbortSignal;
}

/**
 * Checks a database, and its uncommitted migrations.
 *
 * @param client the database with db/current in it, as its owner
 * @returns findings, including waived ones: by severity, then by file and line
 */
export async function check(client: ClientBase, options: CheckOptions = {}): Promise<Finding[]> {
  const scripts = options.scripts ?? (await readScripts(options.current));
  const oldColumns = options.oldColumns ?? (await readCommittedColumns());
  const { before = null, after = () => Promise.reject(new Error("nothing to compare with")) } = options;
  const subject: CheckInput = {
    client,
    scripts,
    oldColumns,
    places: new Places(scripts),
    before,
    after: once(after),
    recorded: options.recorded ?? client,
  };
  const findings: Finding[] = [];
  for (const source of options.only ?? checkSteps) {
    options.signal?.throwIfAborted();
    try {
      const found = await source.find(subject);
      findings.push(...(await Promise.all(found.map((one) => addPlace(one, subject.places)))));
    } catch (error) {
      findings.push(createUncheckedFinding(source, error as Error));
    }
  }
  const committed = (await readCommitted()).map(({ text }) => text);
  return applyWaivers(findings, scripts, committed).sort(compareBySeverity);
}

async function readScripts(current?: readonly CurrentFile[]): Promise<Script[]> {
  return Promise.all((current ?? (await readCurrent())).map(readScript));
}

async function addPlace(found: UnplacedFinding, places: Places): Promise<Finding> {
  const place = found.file === undefined && found.object !== null ? await places.find(found.object) : null;
  const { file = place?.file ?? null, line = place?.line ?? null } = found;
  return { ...found, file, line };
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}

/** A check that can't run is a finding, because it proves nothing. */
const createUncheckedFinding = ({ name }: CheckStep, { message }: Error): Finding => ({
  rule: "unchecked",
  severity: "error",
  file: null,
  line: null,
  object: name,
  what: message,
  why: "This part of the check could not be run, so nobody knows whether it would find something.",
  remedy: "Mend what the message names, and check again.",
});

const severityRanks = { error: 0, warning: 1, note: 2 };

function compareBySeverity(one: Finding, other: Finding): number {
  const weight = ({ severity, waived }: Finding) => (waived === undefined ? severityRanks[severity] : 3);
  return (
    weight(one) - weight(other) ||
    (one.file ?? "").localeCompare(other.file ?? "") ||
    (one.line ?? 0) - (other.line ?? 0)
  );
}
