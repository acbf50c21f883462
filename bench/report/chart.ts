import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { inBothRuns } from "./both-runs.ts";
import { speedShare } from "./figures.ts";
import type { Cell } from "../measure/rounds.ts";
import type { SideBySide } from "./side-by-side-run.ts";

// Colours are variables for light and dark mode. The picture is used as an image, so pages can't set them.
const style = `
  svg { --text: #24292f; --back: #ffffff; --c0: #0a6ebd; --c1: #e08a00; --c2: #b5483a; --c3: #6f8f3a; --c4: #8a63b8; --c5: #7d8590; --c6: #1f9e96; --c7: #c2569b }
  @media (prefers-color-scheme: dark) {
    svg { --text: #e6edf3; --back: #0d1117; --c0: #4aa8ff; --c1: #f2b04a; --c2: #ef8475; --c3: #a5c96a; --c4: #b99ae6; --c5: #9aa3ad; --c6: #4fcfc6; --c7: #e58fc6 }
  }
  svg { color: var(--text); background: var(--back) } .title { font-weight: 600; font-size: 14px }`;

const width = 860;
const barHeight = 11;
const groupGap = 12;

/**
 * Draws the shares of LIMIT, the lower one of two runs: a column for each number of connections, a group of bars for
 * each query.
 */
export function chartOf({
  cells,
  contestants,
  options,
  earlier,
}: Pick<SideBySide, "cells" | "contestants" | "options" | "earlier">): string {
  const leastShare = (cell: Cell): number => inBothRuns(cell, speedShare(cell, cells), earlier)[0]!;
  const bars = cells
    .map((cell) => ({ ...cell, share: leastShare(cell) }))
    .filter(({ contestant, share }) => contestant !== "limit" && Number.isFinite(share));
  const shown = contestants
    .map(({ name }) => name)
    .filter((name) => bars.some(({ contestant }) => contestant === name));
  const queries = new Set(bars.map(({ query }) => query));
  const facets = { fx: "connections", fy: "query", x: "share", y: "contestant" };
  const { document } = parseHTML("<html></html>");
  const chart = Plot.plot({
    ...{ document, width, marginTop: 60, marginLeft: 40, marginRight: 30, insetRight: 12 },
    height: queries.size * (shown.length * barHeight + groupGap) + 100,
    ariaLabel: "Requests per second as a share of LIMIT",
    fx: {
      domain: options.connections,
      label: null,
      tickFormat: (count: number) => (count === 1 ? "1 connection" : `${count} connections`),
    },
    fy: { label: null },
    x: {
      domain: [0, Math.max(1, ...bars.map(({ share }) => share))],
      ...{ grid: true, nice: true, ticks: 4, label: null },
      tickFormat: (share: number) => (share === 1 ? "LIMIT" : String(share)),
    },
    y: { domain: shown, axis: null },
    color: { domain: shown, range: shown.map((_, index) => `var(--c${index})`) },
    marks: [
      Plot.barX(bars, { ...facets, fill: "contestant", ariaLabel: "contestant" }),
      Plot.text(bars, {
        ...facets,
        text: ({ share }: { share: number }) => share.toFixed(2),
        textAnchor: "start",
        dx: 3,
      }),
      Plot.ruleX([1], { strokeDasharray: "4 3" }),
    ],
  });
  chart.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const legend = shown
    .map((name, index) => `<tspan fill="var(--c${index})">■</tspan> ${name}`)
    .join("\u2003");
  chart.insertAdjacentHTML(
    "afterbegin",
    `<style>${style}</style>
    <text class="title" x="40" y="18" text-anchor="start">Requests per second, as a share of LIMIT (dashed line); longer is better</text>
    <text x="40" y="36" text-anchor="start" font-size="12">${legend}</text>`,
  );
  return `${chart.outerHTML}\n`;
}
