import type { Place } from "../migrations/migration-files.ts";

/** Severity of a finding: errors refuse the migration; warnings and notes are only reported. */
export type Severity = "error" | "warning" | "note";

/** Something that a check has found. */
export interface Finding {
  /** The name of the rule, by which it is waived. */
  rule: string;
  severity: Severity;
  /** Where to mend it; null when no file contains it, for example after a change by hand. */
  file: string | null;
  line: number | null;
  /** Its object: a table, a function, a field; null for something larger. */
  object: string | null;
  /** What was found about the object; empty when the rule's name says it. */
  what: string;
  /** Why it is wrong. */
  why: string;
  remedy: string;
  /** The reason for leaving it, given in a waiver. */
  waived?: string;
}

/** A finding as a check reports it. Without a file it is at the place where its object is made. */
export type Found = Omit<Finding, keyof Place> & Partial<Pick<Finding, keyof Place>>;

/** Whether findings refuse what was checked. */
export function isRefused(findings: readonly Finding[]): boolean {
  return findings.some(({ severity, waived }) => severity === "error" && waived === undefined);
}
