import type pg from "pg";
import type { Severity } from "../../check/finding.ts";
import type { Settings } from "../../process/settings.ts";

/** A fault that an examination found, and its remedy. */
export interface Finding {
  /** An error needs somebody today, a warning this week, a note nobody. */
  severity: Severity;
  what: string;
  toDo: string;
}

/** The service and database to examine. */
export interface ExaminationInput {
  settings: Settings;
  /** A connection whose role may become the owner. */
  client: pg.ClientBase;
  /** The URL of the same database. */
  url: string;
  /** Milliseconds since 1970, by the clock of this machine. */
  now: () => number;
}

/** Looks at one thing. */
export interface Examination {
  /** In one or two words. */
  name: string;
  /** Whether it is run as the owner of the tables. */
  asOwner?: boolean;
  find: (patient: ExaminationInput) => Promise<Finding[]>;
}

const severityMaker =
  (severity: Severity) =>
  (what: string, toDo: string): Finding => ({ severity, what, toDo });
export const error = severityMaker("error");
export const warning = severityMaker("warning");
export const note = severityMaker("note");

/** The findings among what conditions give. */
export const keepFindings = (...all: (Finding | false | "" | null)[]): Finding[] =>
  all.filter((one) => one !== false && one !== "" && one !== null);

export const dayMs = 86_400_000;
