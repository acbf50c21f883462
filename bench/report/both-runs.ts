import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Cell } from "../measure/rounds.ts";
import type { Machine } from "./machine.ts";

/** What the results of a run say of one contestant with one query. */
export interface EarlierCell {
  query: string;
  connections: number;
  contestant: string;
  shareOfLimit: number | null;
  shareByProcessorTime: number | null;
}

/** A run that the present one repeats. */
export interface EarlierRun {
  /** The commit that both are of. */
  commit: string | null;
  scale: number;
  machine: Pick<Machine, "date">;
  cells: readonly EarlierCell[];
}

/** The commit that is measured; null if it has been changed, or there is none. Results may differ. */
export async function measuredCommit(): Promise<string | null> {
  const git = (...args: string[]) => promisify(execFile)("git", args);
  try {
    const { stdout: changes } = await git("status", "--porcelain", "--", ":/", ":(top,exclude)bench/results");
    return changes === "" ? (await git("rev-parse", "HEAD")).stdout.trim() : null;
  } catch {
    return null;
  }
}

/** The run that wrote these results, if it was of the same commit, on as much data. */
export function runToRepeat(
  results: string | null,
  { commit, scale }: Pick<EarlierRun, "commit" | "scale">,
): EarlierRun | null {
  if (results === null || commit === null) return null;
  const run = JSON.parse(results) as EarlierRun;
  return run.commit === commit && run.scale === scale ? run : null;
}

/** A share in this run, and in the one that it repeats, the lesser first. */
export function inBothRuns(
  cell: Pick<Cell, "query" | "connections" | "contestant">,
  share: number,
  figure: "shareOfLimit" | "shareByProcessorTime",
  earlier: EarlierRun | null,
): number[] {
  const same = earlier?.cells.find(
    ({ query, connections, contestant }) =>
      query === cell.query && connections === cell.connections && contestant === cell.contestant,
  );
  const before = same?.[figure] ?? null;
  return before === null ? [share] : [share, before].sort((one, other) => one - other);
}

/** In which queries a contestant is at least as fast as LIMIT: in both runs, in one of them, in neither. */
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
