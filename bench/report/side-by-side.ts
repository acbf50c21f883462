import type { Cell } from "../measure/rounds.ts";
import type { BenchOptions } from "../options.ts";
import { claimsOf, inBothRuns } from "./both-runs.ts";
import { chartOf } from "./chart.ts";
import { medianFigure, perSecond, speedShare } from "./figures.ts";
import { machineInWords } from "./machine.ts";
import type { SideBySide } from "./side-by-side-run.ts";
import { table } from "./table.ts";

/** Returns the base name of the report's files. */
export const resultsName = ({ quick }: Pick<BenchOptions, "quick">): string =>
  quick ? "quick" : "side-by-side";

/** Makes the files of the report: Markdown, JSON and a chart. */
export function reportFiles(run: SideBySide): Record<string, string> {
  const name = resultsName(run.options);
  return {
    [`${name}.md`]: markdownOf(run, `${name}.svg`),
    [`${name}.json`]: JSON.stringify(jsonOf(run)),
    [`${name}.svg`]: chartOf(run),
  };
}

function markdownOf(run: SideBySide, picture: string): string {
  const { options, contestants, notes, machine, minutes, scale, cells, earlier } = run;
  const present = contestants.filter(({ name }) => cells.some(({ contestant }) => contestant === name));
  const remarks = present.flatMap(({ name, remarks = [] }) =>
    remarks.map((remark) => `- **${name}**: ${remark}`),
  );
  const tables = options.connections.flatMap((connections) => [
    `## Share of LIMIT, at ${inConnections(connections)}`,
    section(run, connections, (cell) => `${shares(run, cell)}${wrong(cell)}`),
    ...(earlier ? [`The service is at least as fast as LIMIT: ${claims(run, connections)}.`] : []),
  ]);
  const most = Math.max(...options.connections);
  const details = [
    ...options.connections.flatMap((connections) => [
      `## Milliseconds of a request, at ${inConnections(connections)}`,
      "The median, and in brackets what 99 of 100 don't exceed:",
      section(
        run,
        connections,
        (cell) => `${milliseconds(cell, "medianTime")} (${milliseconds(cell, "slowTime")})`,
      ),
    ]),
    `## Requests per second, at ${inConnections(most)}`,
    section(run, most, perSecond),
    `## Milliseconds of processor time per request, at ${inConnections(most)}`,
    "Of the Node process and of Postgres:",
    section(run, most, (cell) => `${milliseconds(cell, "nodeCpu")} + ${milliseconds(cell, "postgresCpu")}`),
  ];
  return [
    "# Side by side",
    `Written by \`npm run bench${options.quick ? " -- --quick" : ""}\`: ${machineInWords(machine)}; demonstration data at
scale ${scale}; medians of ${roundsOf(cells)} interleaved rounds of ${options.seconds} s, in ${minutes.toFixed(0)} minutes.
Shares are medians of the ratios of requests per second within the same round. \`${resultsName(options)}.json\` has all figures.`,
    earlier
      ? `This is the second run of the same commit, after one of ${earlier.machine.date}. Shares are those of both, the lesser
first, and the picture shows the lesser: a claim stands only where both runs hold it. All other figures are of the second.`
      : "This is one run. A second one of the same commit adds its own figures: a claim stands only where both hold it.",
    `![Shares of LIMIT](${picture})`,
    ...tables,
    "## Who takes part",
    present.map(({ name, title }) => `- **${name}**: ${title}`).join("\n"),
    ...(remarks.length ? ["Not quite the same:", remarks.join("\n")] : []),
    "## Queries",
    Object.entries(run.titles)
      .map(([query, title]) => `- **${query}**: ${title}`)
      .join("\n"),
    ...details,
    ...(notes.length ? ["## What went wrong", notes.map((note) => `- ${note}`).join("\n")] : []),
  ].join("\n\n");
}

/** Prints a table of one figure: a row for each query, a column for each contestant. */
function section(run: SideBySide, connections: number, figure: (cell: Cell) => string): string {
  const cells = run.cells.filter((cell) => cell.connections === connections);
  const names = run.contestants
    .map(({ name }) => name)
    .filter((name) => cells.some((cell) => cell.contestant === name));
  const queries = [...new Set(cells.map(({ query }) => query))];
  const rows = queries.map((query) => [
    query,
    ...names.map((name) => {
      const cell = cells.find(({ query: asked, contestant }) => asked === query && contestant === name);
      return cell ? figure(cell) : "–";
    }),
  ]);
  return table(["", ...names], rows);
}

/** Prints a share of LIMIT, and the share in the earlier run. */
function shares({ cells, earlier }: SideBySide, cell: Cell): string {
  const both = inBothRuns(cell, speedShare(cell, cells), earlier);
  return [...new Set(both.map((share) => share.toFixed(2)))].join("–");
}

/** Says in which queries the service is as fast as LIMIT. */
function claims({ cells, earlier }: SideBySide, connections: number): string {
  const ours = cells.filter((cell) => cell.contestant === "service" && cell.connections === connections);
  const entries = ours.map(
    (cell) => [cell.query, inBothRuns(cell, speedShare(cell, cells), earlier)] as const,
  );
  return claimsOf(new Map(entries));
}

function wrong({ rounds }: Cell): string {
  const failures = rounds.reduce((sum, round) => sum + round.failures, 0);
  return failures ? `, ${failures} wrong` : "";
}

function milliseconds(cell: Cell, figure: "medianTime" | "slowTime" | "nodeCpu" | "postgresCpu"): string {
  const value = medianFigure(cell, (round) => round[figure]);
  return Number.isNaN(value) ? "?" : value.toFixed(2);
}

/** Describes the number of rounds. A machine that is too slow for a quick run has fewer. */
function roundsOf(cells: readonly Cell[]): string {
  const numbers = cells.map(({ rounds }) => rounds.length);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return least === most ? String(least) : `${least} to ${most}`;
}

const inConnections = (number: number): string => (number === 1 ? "1 connection" : `${number} connections`);

function jsonOf({ options, contestants, cells, earlier, ...others }: SideBySide): unknown {
  const before = earlier && { date: earlier.machine.date, cells: earlier.cells };
  return {
    ...others,
    ...(before && { earlier: before }),
    secondsPerRound: options.seconds,
    contestants: contestants.map(({ name, title, remarks = [] }) => ({ name, title, remarks })),
    cells: cells.map((cell) => ({
      query: cell.query,
      connections: cell.connections,
      contestant: cell.contestant,
      shareOfLimit: rounded(speedShare(cell, cells)),
      perSecond: rounded(medianFigure(cell, (round) => round.perSecond)),
      medianTime: rounded(medianFigure(cell, (round) => round.medianTime)),
      slowTime: rounded(medianFigure(cell, (round) => round.slowTime)),
      nodeCpu: rounded(medianFigure(cell, (round) => round.nodeCpu)),
      postgresCpu: rounded(medianFigure(cell, (round) => round.postgresCpu)),
      failures: cell.rounds.reduce((sum, round) => sum + round.failures, 0),
      perSecondOfRounds: cell.rounds.map((round) => rounded(round.perSecond)),
    })),
  };
}

const rounded = (value: number): number | null =>
  Number.isFinite(value) ? Number(value.toPrecision(4)) : null;
