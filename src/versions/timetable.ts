import { isServed, retirementOf } from "./lifetime.ts";
import { pathOf } from "./versions.ts";
import type { Version } from "./versions.ts";

/** A line of the timetable of versions. Days are YYYY-MM-DD, in UTC; null when unknown. */
export interface VersionDates extends Version {
  path: string;
  state: "announced" | "served" | "deprecated" | "retired";
  deprecatedOn: string | null;
  /** The first day on which it is not served. */
  sunsetOn: string | null;
}

/** Returns all versions with their dates. */
export function timetable(all: readonly Version[], time: number): VersionDates[] {
  return all.map((version) => {
    const retirement = retirementOf(version, all);
    const isOver = retirement !== null && time >= retirement.sunsetAt;
    const isEnding = retirement !== null && time >= retirement.deprecatedAt;
    const isThere = isServed(version, all, time);
    const state = isOver ? "retired" : !isThere ? "announced" : isEnding ? "deprecated" : "served";
    return {
      ...version,
      path: pathOf(version),
      state,
      deprecatedOn: retirement && formatDay(retirement.deprecatedAt),
      sunsetOn: retirement && formatDay(retirement.sunsetAt),
    };
  });
}

/** Returns the UTC day of a time in milliseconds since 1970, as YYYY-MM-DD. */
export const formatDay = (time: number): string => new Date(time).toISOString().slice(0, 10);
