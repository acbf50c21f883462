/** How bad a finding is: errors refuse, warnings and notes are only told. */
export type Severity = "error" | "warning" | "note";

/** Where something is: a file from the root of the project, and a line counted from 1. */
export interface Place {
  file: string;
  line: number;
}

/** Something that a check has found. */
export interface Finding {
  /** The name of the rule, by which it is waived. */
  rule: string;
  severity: Severity;
  /** Where it is mended; null when no file says it, as for what was done by hand. */
  file: string | null;
  line: number | null;
  /** What it is about: a table, a function, a field; null for something larger. */
  object: string | null;
  /** What was found about the object; empty when the rule's name says it. */
  what: string;
  /** Why that is a fault. */
  why: string;
  wayOut: string;
  /** The reason that somebody gave for leaving it so. */
  waived?: string;
}

/** Whether these findings refuse what was checked. */
export function isRefused(findings: readonly Finding[]): boolean {
  return findings.some(({ severity, waived }) => severity === "error" && waived === undefined);
}
