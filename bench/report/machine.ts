import { availableParallelism, cpus, totalmem } from "node:os";

/** The machine of the measurement. */
export interface Machine {
  processor: string;
  cores: number;
  memoryInGiB: number;
  node: string;
  postgres: string;
  date: string;
}

export function describeMachine(postgres: string): Machine {
  return {
    processor: cpus()[0]?.model.trim() || process.arch,
    cores: availableParallelism(),
    memoryInGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgres,
    date: new Date().toISOString().slice(0, 10),
  };
}

export const machineInWords = ({ processor, cores, memoryInGiB, node, postgres, date }: Machine): string =>
  `${date}, on ${cores} cores (${processor}), ${memoryInGiB} GiB, Node ${node}, Postgres ${postgres}`;
