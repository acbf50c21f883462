import { parseArgs } from "node:util";
import { UsageError } from "../src/commands/terminal.ts";
import type { ReadName } from "./queries/reads.ts";
import { readNames } from "./queries/reads.ts";

/** The measurement to run, and its extent. */
export interface BenchOptions {
  mode:
    | "side by side"
    | "growth"
    | "memory"
    | "fairness"
    | "watch"
    | "bulk"
    | "replicas"
    | "merchants"
    | "help";
  quick: boolean;
  /** In the mode growth: whether only the ledger grows. */
  movements: boolean;
  /** Number of merchants. */
  merchants: number;
  /** Whether to keep databases of merchants and of long ledgers, which are otherwise deleted. */
  keep: boolean;
  /** Scale of the data; by default 100, or the existing one for a quick run. */
  scale: number | undefined;
  rounds: number;
  /** Seconds of each round of each contestant, of each attack, or of each kind of work. */
  seconds: number;
  /** Total time in seconds: on a slow machine there are fewer rounds. */
  budget: number;
  connections: number[];
  reads: ReadName[];
  writes: boolean;
  /** Names of attacks; empty for all. */
  attacks: string[];
  /** Names of further contestants, besides LIMIT and the service. */
  with: string[];
}

export const usage = `Measures the service, side by side with others that answer the same queries.

Usage: npm run bench -- [--quick] [--scale N] [--rounds N] [--seconds N] [--connections 1,32]
                        [--only A,B] [--with NAMES]
       npm run bench -- --growth     the service's pages at scale 10, 100 and 1,000
       npm run bench -- --growth --movements [--keep]
                                     pages, bookings and upkeep with 34,000, 3.4 and 30 million movements: 25 GB,
                                     which are erased at the end
       npm run bench -- --memory     memory after many requests and other work, and how long a start takes
       npm run bench -- --fairness [--seconds N] [--attacks NAMES]
                                     usual clients beside one that attacks, 20 s each
       npm run bench -- --watch      from saving a migration to the changed API, with three versions
       npm run bench -- --bulk       files of 100,000 products and orders in, of a million movements out
       npm run bench -- --replicas   what replicas take off the primary, and what reading one's own writes costs
       npm run bench -- --merchants [N] [--keep]
                                     1,000 merchants in one process: 20 GB, which are erased at the end

  --quick        two minutes: fewer and shorter rounds; on data of scale 10 when scale 100 isn't there
  --scale N      on how much data; 100 unless you say so. Made at the first run, kept in .data/bench
  --only A,B,W   which queries; W stands for the mutations
  --with NAMES   which others beside LIMIT, separated by commas; postgraphile-5 unless you say so, or none. Others are
                 directus, vendure and medusa, each of which is installed for that (up to 700 MB), and this service
                 without one of its fast paths: grafast, awaited, pg-pipeline, unshared, no-groups
  --keep         keep those data for the next run, in .data
  --attacks NAMES  which attacks, separated by commas; all unless you say so

Results are written to bench/results/. Exit code 0: done, 1: an answer was wrong, an attack was noticed or it
failed, 2: invalid arguments.
`;

/** Parses the arguments. @throws {UsageError} if they are invalid */
export function readOptions(args: string[]): BenchOptions {
  const { values, positionals } = parse(args);
  const { quick } = values;
  const modes = ["help", "growth", "memory", "fairness", "watch", "bulk", "replicas", "merchants"] as const;
  const mode = modes.find((each) => values[each]) ?? "side by side";
  if (positionals.length > (mode === "merchants" ? 1 : 0))
    throw new UsageError(`What is ${positionals.at(-1)}?`);
  const isLong = mode === "fairness" || mode === "merchants" || mode === "memory";
  const seconds = isLong ? { full: 20, quick: 2 } : { full: 1.5, quick: 0.2 };
  const names = [...readNames, "W"];
  const only = list(values.only ?? names.join());
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`--only names ${names.join(", ")}, not ${unknown}.`);
  return {
    mode,
    quick,
    movements: values.movements,
    merchants: wholeNumber(positionals[0] ?? (quick ? "50" : "1000"), "merchants"),
    keep: values.keep,
    scale: values.scale === undefined ? undefined : wholeNumber(values.scale, "scale"),
    rounds: wholeNumber(values.rounds ?? (quick ? "3" : "7"), "rounds"),
    seconds: Number(values.seconds ?? (quick ? seconds.quick : seconds.full)),
    budget: quick ? 110 : Infinity,
    connections: list(values.connections ?? "1,32").map((text) => wholeNumber(text, "connections")),
    reads: readNames.filter((name) => only.includes(name)),
    writes: only.includes("W"),
    attacks: list(values.attacks ?? ""),
    with: list(values.with ?? "postgraphile-5"),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        quick: { type: "boolean", default: false },
        growth: { type: "boolean", default: false },
        movements: { type: "boolean", default: false },
        memory: { type: "boolean", default: false },
        fairness: { type: "boolean", default: false },
        watch: { type: "boolean", default: false },
        bulk: { type: "boolean", default: false },
        replicas: { type: "boolean", default: false },
        merchants: { type: "boolean", default: false },
        keep: { type: "boolean", default: false },
        attacks: { type: "string" },
        scale: { type: "string" },
        rounds: { type: "string" },
        seconds: { type: "string" },
        connections: { type: "string" },
        only: { type: "string" },
        with: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}

const list = (text: string): string[] => text.split(",").filter(Boolean);

function wholeNumber(text: string, name: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new UsageError(`--${name} is a whole number, at least 1.`);
  return number;
}
