import type { PostgresServer } from "../data/server.ts";
import { median } from "../measure/statistics.ts";
import type { BenchOptions } from "../options.ts";
import type { Machine } from "./machine.ts";
import { machineInWords } from "./machine.ts";
import { table } from "./table.ts";

/** A server of the measurement. */
export interface Standby extends PostgresServer {
  host: string;
  adminUrl: string;
}

/** Reads of one round. Processor times are in microseconds for each read, others in milliseconds. */
export interface ReadRound {
  /** How many replicas the service has. */
  count: number;
  perSecond: number;
  primaryCpu: number;
  replicaCpu: number;
  nodeCpu: number;
  p50: number;
  p99: number;
  failures: number;
}

/** Reads that follow a write of the same client at once. */
export interface WriteRound {
  count: number;
  readMs: number;
  readP99: number;
  reads: number;
  /** Reads that didn't show what was written. */
  stale: number;
}

export interface Measured {
  reads: readonly ReadRound[];
  writes: readonly WriteRound[];
  machine: Machine;
  options: BenchOptions;
}

export function replicaFiles({ reads, writes, machine, options }: Measured): Record<string, string> {
  const counts = [...new Set(reads.map(({ count }) => count))];
  const of = <Round extends { count: number }>(
    rounds: readonly Round[],
    count: number,
    value: (round: Round) => number,
  ) => median(rounds.filter((round) => round.count === count).map(value));
  const rows = counts.map((count) => {
    const whole = (value: (round: ReadRound) => number) => `${Math.round(of(reads, count, value))}`;
    return [
      ...[`${count}`, whole(({ perSecond }) => perSecond), whole(({ primaryCpu }) => primaryCpu)],
      ...[whole(({ replicaCpu }) => replicaCpu), whole(({ nodeCpu }) => nodeCpu)],
      ...[of(reads, count, ({ p50 }) => p50).toFixed(1), of(reads, count, ({ p99 }) => p99).toFixed(1)],
    ];
  });
  const after = counts.map((count) => [
    `${count}`,
    ...[of(writes, count, ({ readMs }) => readMs), of(writes, count, ({ readP99 }) => readP99)].map((ms) =>
      ms.toFixed(1),
    ),
    `${writes.filter((round) => round.count === count).reduce((sum, round) => sum + round.reads, 0)}`,
    `${writes.filter((round) => round.count === count).reduce((sum, round) => sum + round.stale, 0)}`,
  ]);
  const text = [
    "# Reads on replicas",
    `Written by \`npm run bench -- --replicas\`: ${machineInWords(machine)}. A primary with demonstration data and two streaming
standbys on this machine, so they share its processors: what a machine of its own would bring follows from the processor time. 8
clients with 4 connections each read a product with its stocks; medians of ${options.rounds} rounds, in turns.`,
    table(["replicas", "reads/s", "primary µs", "replicas µs", "Node µs", "p50 ms", "p99 ms"], rows),
    `8 clients rename a supplier each and read it at once:`,
    table(["replicas", "read after the write, p50 ms", "p99 ms", "reads", "stale"], after),
  ].join("\n\n");
  return { [options.quick ? "quick-replicas.md" : "replicas.md"]: text };
}
