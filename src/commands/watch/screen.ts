import type { Finding } from "../../check/finding.ts";
import { printFindings } from "../../check/report.ts";
import { hasColors, paint } from "../terminal.ts";
import type { Answer, ScreenChange } from "./study-thread.ts";

const signs: Record<ScreenChange["kind"], [sign: string, color: "green" | "red" | "yellow"]> = {
  gained: ["+", "green"],
  lost: ["-", "red"],
  changed: ["~", "yellow"],
};

/** Lines of one kind at most. */
const shownAtMost = 40;

/** What a change of the database means, in words; empty when that is nothing. */
export function printAnswer({ changes, findings, troubles }: Answer): string {
  const lines = changes.map(({ kind, text }) => {
    const [sign, color] = signs[kind];
    return paint(color, `  ${sign} ${text}`);
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
