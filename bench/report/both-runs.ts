import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Cell } from "../measure/rounds.ts";
import type { Machine } from "./machine.ts";

/** The results of an earlier run for one contestant and query. */
export interface EarlierCell {
  query: string;
  connections: number;
  contestant: string;
  shareOfLimit: number | null;
}

/** An earlier run that the current run repeats. */
export interface EarlierRun {
  /** The commit of both runs. */
  commit: string | null;
  scale: number;
  machine: Pick<Machine, "date">;
  cells: readonly EarlierCell[];
}

/** Returns the measured commit; null without one, or with uncommitted changes except in results. */
export async function measuredCommit(): Promise<string | null> {
  const git = (...args: string[]) => promisify(execFile)("git", args);
  try {
    const { stdout: changes } = await git("status", "--porcelain", "--", ":/", ":(top,exclude)bench/results");
    return changes === "" ? (await git("rev-parse", "HEAD")).stdout.trim() : null;
  } catch {
    return null;
  }
}

/** Returns the run that wrote these results, if it had the same commit and the same amount of data. */
export function runToRepeat(
  results: string | null,
  { commit, scale }: Pick<EarlierRun, "commit" | "scale">,
): EarlierRun | null {
  if (results === null || commit === null) return null;
  const run = JSON.parse(results) as EarlierRun;
  return run.commit === commit && run.scale === scale ? run : null;
}

/** Returns a share in this run and in the earlier run, the lower one first. */
export function inBothRuns(
  cell: Pick<Cell, "query" | "connections" | "contestant">,
  share: number,
  earlier: EarlierRun | null,
): number[] {
  const same = earlier?.cells.find(
    ({ query, connections, contestant }) =>
      query === cell.query && connections === cell.connections && contestant === cell.contestant,
  );
  const before = same?.shareOfLimit ?? null;
  return before === null ? [share] : [share, before].sort((one, other) => one - other);
}

/** Says in which queries a contestant is at least as fast as LIMIT: in both runs, in one of them, in neither. */
export function claimsOf(sharesByQuery: ReadonlyMap<string, readonly number[]>): string {
  const queriesWhere = (holds: (shares: readonly number[]) => boolean): string =>
    [...sharesByQuery].flatMap(([query, shares]) => (holds(shares) ? query : [])).join(", ") || "none";
  const isAsFast = (share: number) => share >= 1;
  return [
    `in both runs ${queriesWhere((shares) => shares.every(isAsFast))}`,
    `in one of them ${queriesWhere((shares) => shares.some(isAsFast) && !shares.every(isAsFast))}`,
    `in neither ${queriesWhere((shares) => !shares.some(isAsFast))}`,
  ].join("; ");
}
