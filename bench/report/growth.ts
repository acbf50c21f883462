import type { BenchOptions } from "../options.ts";
import type { Machine } from "./machine.ts";
import { machineInWords } from "./machine.ts";
import { table } from "./table.ts";

/** Times on several sizes of data, or at several depths. */
export interface GrowthRow {
  title: string;
  times: { name: string; milliseconds: number }[];
  failures: number;
}

export interface Growth {
  /** A row for each query, across scales. */
  bySize: readonly GrowthRow[];
  /** A row for each scale, across depths of query E. */
  byDepth: readonly GrowthRow[];
  sizes: readonly Size[];
  machine: Machine;
  options: BenchOptions;
}

/** Amounts of data at a scale. */
export interface Size {
  scale: number;
  products: number;
  orders: number;
  movements: number;
  gigabytes: number;
}

export function growthFiles(growth: Growth): Record<string, string> {
  const { options, ...json } = growth;
  const name = options.quick ? "quick-growth" : "growth";
  return { [`${name}.md`]: markdownOf(growth), [`${name}.json`]: JSON.stringify(json) };
}

function markdownOf({ bySize, byDepth, sizes, machine, options }: Growth): string {
  const count = (value: number) => value.toLocaleString("en-GB");
  return [
    "# As the data grows",
    `Written by \`npm run bench -- --growth\`: ${machineInWords(machine)}; medians of ${options.rounds} interleaved rounds of
${options.seconds} s, one request at a time, over data of these sizes:`,
    table(
      ["", ...sizes.map(({ scale }) => `scale ${count(scale)}`)],
      [
        ["products", ...sizes.map(({ products }) => count(products))],
        ["orders", ...sizes.map(({ orders }) => count(orders))],
        ["stock movements", ...sizes.map(({ movements }) => count(movements))],
        ["database, in GB", ...sizes.map(({ gigabytes }) => gigabytes.toFixed(1))],
      ],
    ),
    "## Time of a page by the size of the data",
    "In milliseconds, of the service. The last column compares the largest with the smallest.",
    timesTable(bySize),
    "[Side by side](side-by-side.md#queries) says what each query asks for.",
    ...(byDepth.length > 0
      ? [
          "## Time of a page by its depth",
          "Query E, in milliseconds, at the beginning, in the middle and at the end of all stock movements.",
          timesTable(byDepth),
        ]
      : []),
  ].join("\n\n");
}

function timesTable(rows: readonly GrowthRow[]): string {
  const headings = ["", ...rows[0]!.times.map(({ name }) => name), "ratio"];
  return table(
    headings,
    rows.map(({ title, times, failures }) => [
      title,
      ...times.map(({ milliseconds }) => milliseconds.toFixed(2)),
      `${(times.at(-1)!.milliseconds / times[0]!.milliseconds).toFixed(2)}${failures ? ` (${failures} wrong)` : ""}`,
    ]),
  );
}
