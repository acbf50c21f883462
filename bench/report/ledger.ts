import type { Pruning, Vacuum } from "../data/upkeep.ts";
import type { StatementCosts } from "../measure/statements.ts";
import type { Cell } from "../measure/rounds.ts";
import { ratio } from "../measure/statistics.ts";
import type { BenchOptions } from "../options.ts";
import { medianFigure } from "./figures.ts";
import type { Machine } from "./machine.ts";
import { machineInWords } from "./machine.ts";
import { table } from "./table.ts";

/** The size of a ledger before bookings. */
export interface LedgerSize {
  movements: number;
  gigabytes: number;
  /** Seconds for creating it; null if it existed. */
  seconds: number | null;
  /** Bytes of a movement, of its entries in indexes, and of its number. */
  rowBytes: number;
  indexBytes: number;
  numberBytes: number;
}

/** A ledger's size and its maintenance. */
export interface Ledger extends LedgerSize {
  vacuum: Vacuum;
  pruning: Pruning;
}

/** A read or booking that was measured with each ledger in turns. */
export interface LedgerRow {
  name: string;
  title: string;
  /** The results of each ledger, and the costs of its statements. */
  cells: readonly Cell[];
  costs: readonly StatementCosts[];
}

export interface LedgerGrowth {
  ledgers: readonly Ledger[];
  reads: readonly LedgerRow[];
  bookings: readonly LedgerRow[];
  machine: Machine;
  options: BenchOptions;
}

export function ledgerFiles(growth: LedgerGrowth): Record<string, string> {
  const { options, ...json } = growth;
  const name = options.quick ? "quick-ledger" : "ledger";
  return { [`${name}.md`]: markdownOf(growth), [`${name}.json`]: JSON.stringify(json) };
}

const count = (value: number): string => Math.round(value).toLocaleString("en-GB");

function markdownOf({ ledgers, reads, bookings, machine, options }: LedgerGrowth): string {
  const headings = ledgers.map(({ movements }) => count(movements));
  const rows = [...reads, ...bookings];
  const figure = (of: readonly LedgerRow[], values: (row: LedgerRow) => Figures, digits: number) =>
    table(
      ["movements", ...headings, "ratio"],
      of.map((row) => {
        const { each, compared } = values(row);
        return [row.name, ...each.map((value) => value.toFixed(digits)), compared.toFixed(2)];
      }),
    );
  const ofLedgers = (title: string, value: (ledger: Ledger) => string) => [title, ...ledgers.map(value)];
  return [
    "# As the ledger grows",
    `Written by \`npm run bench -- --growth --movements\`: ${machineInWords(machine)}; ${options.rounds} interleaved rounds of
${options.seconds} s. A shop of scale 10 with 2,000 products, whose movements were copied into its past by SQL: as many goods
go back as there, so the figures of stock stay right. The last column of each table compares the largest ledger with the
smallest, within each round.`,
    table(
      ["movements", ...headings],
      [
        ofLedgers("database, in GB", ({ gigabytes }) => gigabytes.toFixed(1)),
        ofLedgers("made in, s", ({ seconds }) => (seconds === null ? "–" : seconds.toFixed(0))),
        ofLedgers("bytes of a movement", ({ rowBytes }) => rowBytes.toFixed(0)),
        ofLedgers("bytes in its indexes", ({ indexBytes }) => indexBytes.toFixed(0)),
        ofLedgers("bytes of its number", ({ numberBytes }) => numberBytes.toFixed(0)),
      ],
    ),
    rows.map(({ name, title }) => `- **${name}**: ${title}`).join("\n"),
    "## Time of a request",
    "The median, in milliseconds, of the service and Postgres:",
    figure(rows, times, 2),
    "## Postgres' processor time of a request",
    "In milliseconds, over all rounds. Processor time is counted in hundredths of a second.",
    figure(rows, processorTimes, 2),
    "## Pages that a request looks at",
    "Pages of 8 kB, in Postgres' memory or not, in tables, indexes and catalogs.",
    figure(rows, (row) => costsOf(row, "pages"), 1),
    "## Write-ahead log of a booking",
    "In bytes. The first change of a page after a checkpoint logs the whole page.",
    figure(bookings, (row) => costsOf(row, "walBytes"), 0),
    "## Upkeep",
    table(
      ["movements", ...headings],
      [
        ofLedgers(
          "vacuum after 34,000 more: pages read, of how many",
          ({ vacuum }) => `${count(vacuum.pagesRead)} of ${count(vacuum.pages)}`,
        ),
        ofLedgers("the same, ms", ({ vacuum }) => vacuum.milliseconds.toFixed(0)),
        ofLedgers("events in the log", ({ pruning }) => count(pruning.events)),
        ofLedgers("dropping an old one, µs of Postgres", ({ pruning }) =>
          pruning.microseconds === null ? "?" : pruning.microseconds.toFixed(0),
        ),
      ],
    ),
  ].join("\n\n");
}

/** A figure of each ledger, and the largest ledger's compared with the smallest's. */
interface Figures {
  each: number[];
  compared: number;
}

function times({ cells }: LedgerRow): Figures {
  const rounds = cells.map((cell) => cell.rounds.map((round) => round.medianTime));
  return {
    each: cells.map((cell) => medianFigure(cell, (round) => round.medianTime)),
    compared: ratio(rounds.at(-1)!, rounds[0]!),
  };
}

function processorTimes({ cells }: LedgerRow): Figures {
  const each = cells.map(({ rounds }) => {
    const requests = rounds.reduce((sum, round) => sum + round.requests, 0);
    return rounds.reduce((sum, round) => sum + (round.postgresCpu ?? NaN) * round.requests, 0) / requests;
  });
  return { each, compared: each.at(-1)! / each[0]! };
}

function costsOf({ costs }: LedgerRow, name: keyof StatementCosts): Figures {
  const each = costs.map((cost) => cost[name]);
  return { each, compared: each.at(-1)! / each[0]! };
}
