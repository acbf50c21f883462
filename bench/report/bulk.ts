import type { BenchOptions } from "../options.ts";
import type { Machine } from "./machine.ts";
import { machineInWords } from "./machine.ts";
import { table } from "./table.ts";

/** An imported or exported file. */
export interface BulkRun {
  name: string;
  rows: number;
  refused: number;
  state: string;
  /** Seconds from the first byte until the end. */
  seconds: number;
  /** Seconds of these until the file has been uploaded. */
  sendSeconds: number;
  /** Processor time of Postgres and of the service, in seconds. */
  postgresSeconds: number;
  serviceSeconds: number;
  /** Peak resident memory of the service meanwhile, and its memory before. */
  megabytes: number;
  megabytesBefore: number;
}

export interface BulkReport {
  runs: readonly BulkRun[];
  machine: Machine;
  options: BenchOptions;
}

export function bulkFiles({ runs, machine, options }: BulkReport): Record<string, string> {
  const text = [
    "# Files of many rows",
    `Written by \`npm run bench -- --bulk\`: ${machineInWords(machine)}, which Postgres, the service and the client share. Products
have a price each, orders three lines; the second file of products is the first again, so nothing changes. Movements are written with
the numbers of their products. The time is that from the first byte of the upload, or from asking for the export, to the end, and of it
that until the file has arrived. Then come the processor time of Postgres and of the service, and the service's memory.`,
    table(
      ["file", "rows", "seconds", "sending", "Postgres, s", "service, s", "MiB before", "MiB at most"],
      runs.map(cellsOf),
    ),
  ].join("\n\n");
  return { [options.quick ? "quick-bulk.md" : "bulk.md"]: text };
}

function cellsOf(run: BulkRun): string[] {
  const { name, rows, megabytesBefore, megabytes } = run;
  const times = [run.seconds, run.sendSeconds, run.postgresSeconds, run.serviceSeconds];
  return [
    ...[name, rows.toLocaleString("en-GB"), ...times.map((time) => time.toFixed(1))],
    ...[megabytesBefore, megabytes].map((size) => size.toFixed(0)),
  ];
}
