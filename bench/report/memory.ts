import type { BenchOptions } from "../options.ts";
import type { Machine } from "./machine.ts";
import { machineInWords } from "./machine.ts";
import { table } from "./table.ts";

/** Duration and processor time of a start, in milliseconds. */
export interface Start {
  time: number;
  cpu: number;
}

/** The service's memory. */
export interface Memory {
  /** Resident memory after numbers of requests. */
  points: readonly { requests: number; megabytes: number }[];
  start: Start;
  failures: number;
  machine: Machine;
  scale: number;
  options: BenchOptions;
}

export function memoryFiles(memory: Memory): Record<string, string> {
  const { options, ...json } = memory;
  const name = options.quick ? "quick-memory" : "memory";
  return { [`${name}.md`]: markdownOf(memory), [`${name}.json`]: JSON.stringify(json) };
}

function markdownOf({ points, start, failures, machine, scale }: Memory): string {
  const [first, last] = [points[0]!, points.at(-1)!];
  return [
    "# Memory and start",
    `Written by \`npm run bench -- --memory\`: ${machineInWords(machine)}; demonstration data at scale ${scale}; all queries in
turns, over 32 connections.`,
    table(
      ["requests", "resident memory, in MiB"],
      points.map(({ requests, megabytes }) => [requests.toLocaleString("en-GB"), megabytes.toFixed(0)]),
    ),
    `After ${last.requests.toLocaleString("en-GB")} requests it is ${(last.megabytes / first.megabytes).toFixed(2)} times
what it was after ${first.requests.toLocaleString("en-GB")}. Wrong answers: ${failures}.`,
    `A start of the service with all versions, without one of Postgres, takes ${seconds(start.time)}; processor time
${seconds(start.cpu)}.`,
  ].join("\n\n");
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(2)} s`;
