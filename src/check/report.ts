import { styleText } from "node:util";
import type { Finding, Severity } from "./finding.ts";
import { isRefused } from "./finding.ts";

const colors: Record<Severity, "red" | "yellow" | "blue"> = { error: "red", warning: "yellow", note: "blue" };

/** Prints findings for people, grouped by rule. */
export function printFindings(findings: readonly Finding[], { color = false } = {}): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
  const open = findings.filter(({ waived }) => waived === undefined);
  const groups = Map.groupBy(open, ({ rule, severity, why }) => JSON.stringify([severity, rule, why]));
  const blocks = [...groups.values()].map((group) => {
    const [{ severity, rule, why }] = group as [Finding, ...Finding[]];
    const heading = paint(colors[severity], `${severity} ${rule}`);
    const remedies = new Set(group.map(({ remedy }) => remedy));
    const [way] = remedies;
    const ways = remedies.size === 1 && way !== "" ? [`  Remedy: ${way}`] : [];
    const lines = group.flatMap((finding) => [
      `  ${paint("bold", formatPlace(finding))}${formatSubject(finding)}`,
      ...(remedies.size > 1 ? [`    Remedy: ${finding.remedy}`] : []),
    ]);
    return [heading, ...lines, ...(why === "" ? [] : [`  ${why}`]), ...ways].join("\n");
  });
  const waived = findings.filter((finding) => finding.waived !== undefined).map(printWaived);
  return [...blocks, ...(waived.length > 0 ? [waived.join("\n")] : []), formatSummary(findings)].join("\n\n");
}

const formatPlace = ({ file, line }: Finding) =>
  file === null ? "" : `${file}${line === null ? "" : `:${line}`} `;

const formatSubject = ({ object, what }: Finding) => [object, what].filter(Boolean).join(": ");

const printWaived = (finding: Finding) =>
  `waived ${finding.rule} ${formatPlace(finding)}${formatSubject(finding)} (${finding.waived})`;

/** Returns a line with the number of findings of each severity. */
function formatSummary(findings: readonly Finding[]): string {
  if (findings.length === 0) return "The check is clean.";
  const open = findings.filter(({ waived }) => waived === undefined);
  const counts = (["error", "warning", "note"] as const).flatMap((severity) => {
    const count = open.filter((finding) => finding.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}${count === 1 ? "" : "s"}`];
  });
  if (open.length < findings.length) counts.push(`${findings.length - open.length} waived`);
  return `${isRefused(findings) ? "The check refuses" : "The check passes"}: ${counts.join(", ")}.`;
}

/** Prints findings as JSON. */
export function printJson(findings: readonly Finding[]): string {
  return `${JSON.stringify({ refused: isRefused(findings), findings }, null, 2)}\n`;
}
