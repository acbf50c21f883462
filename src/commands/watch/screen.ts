import { styleText } from "node:util";
import { printFindings } from "../../check/report.ts";
import type { Answer, ApiChange } from "./study.ts";

type Format = Parameters<typeof styleText>[0];

/** Colours a text, if the terminal shows colours and nobody has set NO_COLOR. */
export const paint = (format: Format, text: string): string =>
  styleText(format, text, { stream: process.stderr });

const signs: Record<ApiChange["kind"], [sign: string, format: Format]> = {
  gained: ["+", "green"],
  lost: ["-", "red"],
  changed: ["~", "yellow"],
};

/** Lines of one kind at most. */
const shownAtMost = 40;

/** What a change of the database means, in words; empty when that is nothing. */
export function printAnswer({ changes, broken, findings, troubles }: Answer): string {
  const lines = changes.map(({ kind, text }) => {
    const [sign, format] = signs[kind];
    return paint(format, `  ${sign} ${text}`);
  });
  const operations = broken.map(
    ({ file, line, reason }) => `  ${paint("bold", line === null ? file : `${file}:${line}`)}  ${reason}`,
  );
  const blocks = [
    block(`The API has changed:`, lines),
    block(paint("red", "These operations worked with schema/unstable.graphql, and would break:"), operations),
    ...(findings.length > 0 ? [printFindings(findings, { color: paint("red", "x") !== "x" })] : []),
    ...troubles,
  ];
  return blocks.filter(Boolean).join("\n\n");
}

function block(heading: string, lines: string[]): string {
  if (lines.length === 0) return "";
  const more = lines.length - shownAtMost;
  return [heading, ...lines.slice(0, shownAtMost), ...(more > 0 ? [`  and ${more} more`] : [])].join("\n");
}
