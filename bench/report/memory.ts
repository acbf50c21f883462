import type { BenchOptions } from "../options.ts";
import type { Machine } from "./machine.ts";
import { machineInWords } from "./machine.ts";
import { table } from "./table.ts";

/** Duration and processor time of a start, in milliseconds. */
export interface Start {
  time: number;
  cpu: number;
}

/** The service's resident memory after some work, and its peak during the work. */
export interface MemoryPoint {
  name: string;
  /** Number of requests or other units of work. */
  count: number;
  failures: number;
  megabytes: number;
  peak: number;
}

/** The service's memory. */
export interface Memory {
  points: readonly MemoryPoint[];
  start: Start;
  machine: Machine;
  scale: number;
  options: BenchOptions;
}

/** Memory bound of a process that is idle after all this work, in MiB. */
export const boundMegabytes = 500;

export function memoryFiles(memory: Memory): Record<string, string> {
  const { options, ...json } = memory;
  const name = options.quick ? "quick-memory" : "memory";
  return {
    [`${name}.md`]: markdownOf(memory),
    [`${name}.json`]: JSON.stringify(json),
  };
}

function markdownOf({ points, start, machine, scale, options }: Memory): string {
  const [first, last] = [points[0]!, points.at(-1)!];
  const reads = points.findLast(({ name }) => name.endsWith("reads"))!;
  const most = points.reduce((one, other) => (other.peak > one.peak ? other : one));
  return [
    "# Memory and start",
    `Written by \`npm run bench -- --memory\`: ${machineInWords(machine)}; demonstration data at scale ${scale}. First all queries in
turns, over 32 connections; then each kind of work for ${options.seconds} s, all of it for ${options.seconds * 3} s, and nothing.`,
    table(
      ["work", "count", "failed", "MiB after it", "MiB at most"],
      points.map(({ name, count, failures, megabytes, peak }) => [
        name,
        ...[count, failures, Math.round(megabytes), Math.round(peak)].map((n) => n.toLocaleString("en-GB")),
      ]),
    ),
    `After ${reads.name} it is ${(reads.megabytes / first.megabytes).toFixed(2)} times what it was after ${first.name}. The most is
${most.peak.toFixed(0)} MiB (${most.name}), and ${last.megabytes.toFixed(0)} remain after ${last.name}.
What remains is ${last.megabytes <= boundMegabytes ? "within" : "OVER"} the bound of ${boundMegabytes} MiB, the most is ${most.peak <= boundMegabytes ? "within" : "over"} it.`,
    `A start of the service with all versions, without one of Postgres, takes ${seconds(start.time)}; processor time
${seconds(start.cpu)}.`,
  ].join("\n\n");
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(2)} s`;
