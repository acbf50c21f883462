import type { Place } from "../migrations/migration-files.ts";

/** Severity of a finding: errors block the migration; warnings and notes are only reported. */
export type Severity = "error" | "warning" | "note";

/** A fault that a check found. */
export interface Finding {
  /** The name of the rule, by which it is waived. */
  rule: string;
  severity: Severity;
  /** The file to fix; null when no file contains the object, for example after a manual change. */
  file: string | null;
  line: number | null;
  /** Its object: a table, a function, a field; null for something larger. */
  object: string | null;
  /** A description of the fault; empty when the rule's name says it. */
  what: string;
  /** Why it is wrong. */
  why: string;
  remedy: string;
  /** The reason for leaving it, given in a waiver. */
  waived?: string;
}

/** A finding as a check reports it. Without a file, the place that defines its object is used. */
export type UnplacedFinding = Omit<Finding, keyof Place> & Partial<Pick<Finding, keyof Place>>;

/** Whether the findings block the migration. */
export function isRefused(findings: readonly Finding[]): boolean {
  return findings.some(({ severity, waived }) => severity === "error" && waived === undefined);
}
