import { html } from "../../html/html.ts";
import type { Html } from "../../html/html.ts";

/** A row of a report, by the names of its columns. */
export type ReportRow = Readonly<Record<string, string | number | boolean | null>>;

/** Most lines that the picture of a flow shows, the widest ones. */
const maxFlows = 40;
const rowHeight = 26;
const width = 980;
/** Space for a label, in pixels, and its most characters. */
const labelWidth = 230;
const labelLength = 32;

interface Flow {
  source: string;
  destination: string;
  units: number;
}

/** Returns how many steps each end of a flow is away from the beginning. */
function depths(flows: readonly Flow[]): Map<string, number> {
  const depth = new Map<string, number>();
  const place = (name: string, least: number, visited: readonly string[]): void => {
    if (visited.includes(name) || (depth.get(name) ?? -1) >= least) return;
    depth.set(name, least);
    for (const flow of flows)
      if (flow.source === name) place(flow.destination, least + 1, [...visited, name]);
  };
  const destinations = new Set(flows.map(({ destination }) => destination));
  for (const { source } of flows) if (!destinations.has(source)) place(source, 0, []);
  return depth;
}

/** Draws rows with the columns source, destination and units, as lines from left to right. */
function flow(rows: readonly ReportRow[]): Html {
  const all = rows.map(({ source, destination, units }) => ({
    ...{ source: String(source), destination: String(destination), units: Number(units) },
  }));
  const flows = all.toSorted((a, b) => b.units - a.units).slice(0, maxFlows);
  const depth = depths(flows);
  const columns = Map.groupBy(depth.keys(), (name) => depth.get(name)!);
  const height = Math.max(...[...columns.values()].map((names) => names.length)) * rowHeight + rowHeight;
  const xOf = (name: string) =>
    10 + (depth.get(name)! * (width - labelWidth - 20)) / Math.max(1, columns.size - 1);
  const yOf = (name: string) => {
    const names = columns.get(depth.get(name)!)!;
    return ((names.indexOf(name) + 0.5) * height) / names.length;
  };
  const widest = Math.max(...flows.map(({ units }) => units));
  return picture(
    height,
    "Where units came from and went to",
    html`${flows.map(({ source, destination, units }) => {
      const [x1, y1, x2, y2] = [
        xOf(source) + labelWidth,
        yOf(source),
        xOf(destination) - 6,
        yOf(destination),
      ];
      const bend = (x1 + x2) / 2;
      return html`<path
        class="flow"
        d="M${x1} ${y1} C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}"
        stroke-width="${(1 + (units / widest) * 14).toFixed(1)}"
        ><title>${source} → ${destination}: ${units}</title></path
      >`;
    })}
    ${[...depth.keys()].map(
      (name) =>
        html`<text x="${xOf(name)}" y="${yOf(name) + 5}"
          >${name.length > labelLength ? `${name.slice(0, labelLength - 1)}…` : name}</text
        >`,
    )}`,
  );
}

/** Draws the column balance over the rows as steps. */
function lines(rows: readonly ReportRow[]): Html {
  const balances = rows.map(({ balance }) => Number(balance));
  const [least, most] = [Math.min(0, ...balances), Math.max(1, ...balances)];
  const y = (balance: number) => 190 - ((balance - least) / (most - least)) * 170;
  const step = (width - 80) / balances.length;
  const path = balances.map((balance, index) => {
    const x = 70 + index * step;
    return `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y(balance).toFixed(1)} h${step.toFixed(1)}`;
  });
  return picture(
    210,
    "The balance after each movement",
    html`${[least, most].map(
        (balance) =>
          html`<line x1="70" x2="${width - 10}" y1="${y(balance)}" y2="${y(balance)}" />
            <text x="60" y="${y(balance) + 5}" text-anchor="end">${balance.toLocaleString("en-GB")}</text>`,
      )} <path class="balance" d="${path.join(" ")}" />`,
  );
}

const picture = (height: number, label: string, content: Html): Html =>
  html`<div class="wide" role="region" aria-label="${label}" tabindex="0">
    <svg
      class="picture"
      viewBox="0 0 ${width} ${height}"
      width="${width}"
      height="${height}"
      role="img"
      aria-label="${label}"
    >
      ${content}
    </svg>
  </div>`;

/** Pictures of reports, by the name in the tag @picture of their functions. */
export const pictures = { flow, lines };
