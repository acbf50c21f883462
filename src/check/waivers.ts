import type { Finding } from "./finding.ts";
import type { Script } from "./script.ts";

/** A comment that accepts a finding. */
interface Waiver {
  rule: string;
  /** Empty when the waiver is for the statement below it. */
  object: string;
  reason: string;
}

const pattern = /^\s*--\s*waive\s+([\w-]+)[ \t]*([^:\n]*?)[ \t]*(?::[ \t]*(.*))?$/gm;

/**
 * Applies waivers from comments: `-- waive RULE: reason` above a statement, or `-- waive RULE OBJECT: reason` anywhere. A
 * waiver without a reason is itself a finding.
 *
 * @param committed the texts of committed migrations
 */
export function applyWaivers(
  findings: readonly Finding[],
  scripts: readonly Script[],
  committed: readonly string[],
): Finding[] {
  const statements = scripts.flatMap((script) => script.statements);
  const anywhere = [...committed, ...scripts.map(({ text }) => text)].flatMap(parseWaivers);
  const reasonFor = ({ rule, object, file, line }: Finding): string | undefined => {
    const ofObject = anywhere.find((waiver) => waiver.rule === rule && waiver.object === object);
    if (ofObject !== undefined) return ofObject.reason;
    const above = statements
      .filter(({ place }) => place.file === file && place.line === line)
      .flatMap(({ comments, text }) => parseWaivers(comments + text));
    return above.find((waiver) => waiver.rule === rule && waiver.object === "")?.reason;
  };
  const settled = findings.map((finding) => {
    const waived = reasonFor(finding);
    return waived ? { ...finding, waived } : finding;
  });
  return [...settled, ...statements.flatMap(findUnexplained)];
}

function parseWaivers(text: string): Waiver[] {
  return [...text.matchAll(pattern)].map(([, rule = "", object = "", reason = ""]) => ({
    rule,
    object,
    reason: reason.trim(),
  }));
}

function findUnexplained({ comments, text, place }: Script["statements"][number]): Finding[] {
  return parseWaivers(comments + text)
    .filter(({ reason }) => reason === "")
    .map(({ rule }) => ({
      rule: "waiver",
      severity: "error",
      ...place,
      object: null,
      what: `waives ${rule} without a reason`,
      why: "Who reads the migration later can't tell whether the danger was seen or overlooked.",
      remedy: `-- waive ${rule}: why it does no harm here`,
    }));
}
