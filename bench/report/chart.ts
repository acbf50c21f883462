import { shareOf } from "./figures.ts";
import type { SideBySide } from "./side-by-side-run.ts";

// Horizontal bars, a group for each query, LIMIT as a line at 1. Colours by class, so that they suit light and dark.

const width = 860;
const left = 46;
const right = 60;
const barHeight = 11;
const groupGap = 12;
const panelGap = 46;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .small { font-size: 10px } .title { font-weight: 600; font-size: 14px } .quiet { fill: #57606a }
  .back { fill: #ffffff } .grid { stroke: #d0d7de } .limit { stroke: #24292f; stroke-dasharray: 4 3 }
  .c0 { fill: #0a6ebd } .c1 { fill: #e08a00 } .c2 { fill: #b5483a } .c3 { fill: #6f8f3a } .c4 { fill: #8a63b8 } .c5 { fill: #7d8590 }
  .c6 { fill: #1f9e96 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .quiet { fill: #9198a1 } .back { fill: #0d1117 } .grid { stroke: #30363d } .limit { stroke: #e6edf3 }
    .c0 { fill: #4aa8ff } .c1 { fill: #f2b04a } .c2 { fill: #ef8475 } .c3 { fill: #a5c96a } .c4 { fill: #b99ae6 } .c5 { fill: #9aa3ad }
    .c6 { fill: #4fcfc6 }
  }`;

interface Bar {
  contestant: string;
  share: number;
}

/** A picture of the shares of LIMIT, one panel for each number of connections. */
export function chartOf(run: Pick<SideBySide, "cells" | "contestants" | "options">): string {
  const shown = run.contestants
    .map(({ name }) => name)
    .filter((name) => name !== "limit" && run.cells.some(({ contestant }) => contestant === name));
  const widest = Math.max(1, ...run.cells.map((cell) => shareOf(cell, run.cells)).filter(Number.isFinite));
  const scale = (share: number) => left + (share / (Math.ceil(widest * 4) / 4)) * (width - left - right);
  const parts: string[] = [];
  let y = 60;
  parts.push(legend(shown, 34));
  for (const connections of run.options.connections) {
    const groups = groupsOf(run, connections, shown);
    const height = [...groups.values()].reduce((sum, bars) => sum + bars.length * barHeight + groupGap, 0);
    parts.push(
      text(left, y, `${connections === 1 ? "1 connection" : `${connections} connections`}`, "title"),
    );
    parts.push(...gridLines(y + 8, height + 6, scale, Math.ceil(widest * 4) / 4));
    let top = y + 18;
    for (const [query, bars] of groups) {
      parts.push(text(14, top + (bars.length * barHeight) / 2 + 4, query, "title"));
      for (const { contestant, share } of bars) {
        parts.push(bar(top, scale(share) - left, shown.indexOf(contestant)));
        parts.push(text(scale(share) + 5, top + barHeight - 2, share.toFixed(2), "small quiet"));
        top += barHeight;
      }
      top += groupGap;
    }
    y += height + panelGap + 10;
  }
  const height = y - panelGap + 26;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Requests per second as a share of LIMIT">
<style>${style}
</style>
<rect class="back" width="${width}" height="${height}"/>
${text(left, 18, "Requests per second, as a share of LIMIT (dashed line); longer is better", "title")}
${parts.join("\n")}
</svg>
`;
}

function groupsOf(
  { cells }: Pick<SideBySide, "cells">,
  connections: number,
  shown: readonly string[],
): Map<string, Bar[]> {
  const groups = new Map<string, Bar[]>();
  for (const cell of cells) {
    const share = shareOf(cell, cells);
    if (cell.connections !== connections || !shown.includes(cell.contestant) || !Number.isFinite(share))
      continue;
    const bars = groups.get(cell.query) ?? [];
    groups.set(cell.query, [...bars, { contestant: cell.contestant, share }]);
  }
  return groups;
}

function legend(names: readonly string[], y: number): string {
  let x = left;
  return names
    .map((name, index) => {
      const entry = `<rect class="c${index}" x="${x}" y="${y - 9}" width="10" height="10"/>${text(x + 15, y, name)}`;
      x += 15 + name.length * 7 + 22;
      return entry;
    })
    .join("\n");
}

function gridLines(y: number, height: number, scale: (share: number) => number, last: number): string[] {
  const lines: string[] = [];
  for (let share = 0; share <= last; share += 0.25) {
    const x = scale(share).toFixed(1);
    const kind = share === 1 ? "limit" : "grid";
    lines.push(`<line class="${kind}" x1="${x}" x2="${x}" y1="${y}" y2="${y + height}"/>`);
    lines.push(
      text(scale(share), y + height + 13, share === 1 ? "LIMIT" : String(share), "small quiet", "middle"),
    );
  }
  return lines;
}

const bar = (y: number, length: number, index: number): string =>
  `<rect class="c${index}" x="${left}" y="${y}" width="${Math.max(length, 0.5).toFixed(1)}" height="${barHeight - 2}"/>`;

const text = (x: number, y: number, content: string, kind = "", anchor = "start"): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" class="${kind}" text-anchor="${anchor}">${content}</text>`;
