import type { Finding } from "../../check/finding.ts";
import { printFindings } from "../../check/report.ts";
import { hasColors, paint } from "../terminal.ts";
import type { Weight } from "../../check/api-changes.ts";
import type { Answer } from "./study-thread.ts";

/** What clients gain, lose, and find changed. */
const signs: Record<Weight, [sign: string, color: "green" | "red" | "yellow"]> = {
  added: ["+", "green"],
  breaking: ["-", "red"],
  dangerous: ["~", "yellow"],
  deprecated: ["~", "yellow"],
  changed: ["~", "yellow"],
};

/** Lines of one kind at most. */
const shownAtMost = 40;

/** What a change of the database means, in words; empty when that is nothing. */
export function printAnswer({ changes, findings, troubles }: Answer): string {
  const lines = changes.map(({ weight, message }) => {
    const [sign, color] = signs[weight];
    return paint(color, `  ${sign} ${message}`);
  });
  const told = findings.filter((finding) => !isListed(finding));
  const blocks = [
    block(`The API has changed:`, lines),
    ...(told.length > 0 ? [printFindings(told, { color: hasColors() })] : []),
    ...troubles,
  ];
  return blocks.filter(Boolean).join("\n\n");
}

/** What the list of changes says already. */
const isListed = ({ rule, severity }: Finding) => severity === "note" && rule.startsWith("api-");

function block(heading: string, lines: string[]): string {
  if (lines.length === 0) return "";
  const more = lines.length - shownAtMost;
  return [heading, ...lines.slice(0, shownAtMost), ...(more > 0 ? [`  and ${more} more`] : [])].join("\n");
}
