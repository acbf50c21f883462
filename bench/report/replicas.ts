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
  /** Number of the service's replicas. */
  count: number;
  perSecond: number;
  primaryCpu: number;
  replicaCpu: number;
  nodeCpu: number;
  p50: number;
  p99: number;
  failures: number;
}

/** Reads right after a write of the same client. */
export interface WriteRound {
  count: number;
  readMs: number;
  readP99: number;
  reads: number;
  /** Reads that didn't show the write. */
  stale: number;
}

export interface Measured {
  reads: readonly ReadRound[];
  writes: readonly WriteRound[];
  machine: Machine;
  options: BenchOptions;
}

/** Processor time of a read, in microseconds. */
export interface ReadCost {
  count: number;
  primaryCpu: number;
  replicaCpu: number;
  nodeCpu: number;
}

/** Cores of each machine of the calculation. */
const cores = 2;

/**
 * Computes the reads per second of separate machines from the processor time of a read. The first machine has the primary,
 * the others a replica each. All have processes of the service, and requests go to machines with spare capacity.
 *
 * @returns rows of a table: machines; reads per second, from the time measured with this number of replicas, and from the
 *   time with one; both also as multiples of one machine
 */
export function machineRows(costs: readonly ReadCost[]): string[][] {
  const each = ({ primaryCpu, replicaCpu, nodeCpu }: ReadCost) => primaryCpu + replicaCpu + nodeCpu;
  const one = (cores * 1e6) / each(costs[0]!);
  return costs.map((cost) => {
    const machines = cost.count + 1;
    const time = [each(cost), each(costs[Math.min(cost.count, 1)]!)];
    const rates = time.map((microseconds) => (machines * cores * 1e6) / microseconds);
    return [`${machines}`, ...rates.flatMap((rate) => [`${Math.round(rate)}`, (rate / one).toFixed(1)])];
  });
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
  const costs = counts.map((count) => ({
    count,
    primaryCpu: of(reads, count, ({ primaryCpu }) => primaryCpu),
    replicaCpu: of(reads, count, ({ replicaCpu }) => replicaCpu),
    nodeCpu: of(reads, count, ({ nodeCpu }) => nodeCpu),
  }));
  const text = [
    "# Reads on replicas",
    `Written by \`npm run bench -- --replicas\`: ${machineInWords(machine)}. A primary with demonstration data and two streaming
standbys on this machine, so they share its processors: what a machine of its own would bring follows from the processor time. 8
clients with 4 connections each read a product with its stocks; medians of ${options.rounds} rounds, in turns.`,
    table(["replicas", "reads/s", "primary µs", "replicas µs", "Node µs", "p50 ms", "p99 ms"], rows),
    `8 clients rename a supplier each and read it at once:`,
    table(["replicas", "read after the write, p50 ms", "p99 ms", "reads", "stale"], after),
    "## With machines of their own",
    `Calculated from the processor time above, not measured: machines of ${cores} cores, all of them busy. The first has the primary,
each other one a replica, all have processes of the service, and requests go where there is room. The time for two replicas was
measured while three Postgres shared two cores and their caches; a second replica on its own machine should cost no more than the
first, so the truth lies between both columns. What it leaves out: the network, and the writes, which each replica has to replay.`,
    table(
      ["machines", "reads/s", "times one", "reads/s at one replica's cost", "times one"],
      machineRows(costs),
    ),
    `A machine for a replica alone, without processes of the service, brings nothing once Node is what is busy: a read takes Node
more than Postgres, and 15 % more with a replica. What it always brings is the primary's own time, which writes then have.`,
  ].join("\n\n");
  return { [options.quick ? "quick-replicas.md" : "replicas.md"]: text };
}
