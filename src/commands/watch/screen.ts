import type { Finding } from "../../check/finding.ts";
import { printFindings } from "../../check/report.ts";
import { hasColors, paint } from "../terminal.ts";
import type { Impact } from "../../check/api-changes.ts";
import type { Answer } from "./study-thread.ts";

/** Signs and colors of changes of the API. */
const signs: Record<Impact, [sign: string, color: "green" | "red" | "yellow"]> = {
  added: ["+", "green"],
  breaking: ["-", "red"],
  dangerous: ["~", "yellow"],
  deprecated: ["~", "yellow"],
  changed: ["~", "yellow"],
};

/** Lines of one kind at most. */
const shownAtMost = 40;

/** Prints the effects of a change of the database; empty when there are none. */
export function printAnswer({ changes, findings, troubles }: Answer): string {
  const lines = changes.map(({ impact: weight, message }) => {
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

/** Whether the list of changes already shows a finding. */
const isListed = ({ rule, severity }: Finding) => severity === "note" && rule.startsWith("api-");

function block(heading: string, lines: string[]): string {
  if (lines.length === 0) return "";
  const more = lines.length - shownAtMost;
  return [heading, ...lines.slice(0, shownAtMost), ...(more > 0 ? [`  and ${more} more`] : [])].join("\n");
}
