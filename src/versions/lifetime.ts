import type { Version } from "./versions.ts";

/** The end of a version. Times are in milliseconds since 1970. */
export interface Retirement {
  /** From then on, responses warn of the end: three months before it. */
  deprecatedAt: number;
  /** From then on, the version is refused. */
  sunsetAt: number;
  /** The version to change to: the newest stable one. */
  successor: Version | null;
}

const months = { ofWarning: 3, ofStable: 12, ofPreviewAfterStable: 3 };

/**
 * Returns when a version ends. A stable version ends with the twelfth month after the month of its release, a dated preview
 * three months after the release of the next stable version, `unstable` never.
 *
 * @returns null when no end is known
 */
export function retirementOf(version: Version, all: readonly Version[]): Retirement | null {
  const sunsetAt = findEnd(version, all);
  if (sunsetAt === null) return null;
  const later = all.filter(
    (other) => other.kind === "stable" && releaseTime(other)! > releaseTime(version)! && other !== version,
  );
  const successor = later.toSorted((a, b) => releaseTime(b)! - releaseTime(a)!)[0] ?? null;
  return { deprecatedAt: addMonths(sunsetAt, -months.ofWarning), sunsetAt, successor };
}

/** Whether a version is served at a time. */
export function isServed(version: Version, all: readonly Version[], now: number): boolean {
  const released = releaseTime(version);
  const end = findEnd(version, all);
  return (released === null || released <= now) && (end === null || now < end);
}

function findEnd(version: Version, all: readonly Version[]): number | null {
  const released = releaseTime(version);
  if (released === null) return null;
  if (version.kind === "stable") {
    const [year, month] = version.slug.split("-").map(Number);
    return Date.UTC(year!, month! - 1 + months.ofStable + 1);
  }
  const next = all.flatMap((other) => (other.kind === "stable" ? releaseTime(other)! : []));
  const first = Math.min(...next.filter((time) => time > released));
  return Number.isFinite(first) ? addMonths(first, months.ofPreviewAfterStable) : null;
}

function releaseTime({ releasedOn }: Version): number | null {
  return releasedOn === null ? null : Date.parse(releasedOn);
}

/** Returns the same day some months later, or the last day of a shorter month. */
function addMonths(time: number, count: number): number {
  const date = new Date(time);
  const month = date.getUTCMonth() + count;
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  return Date.UTC(date.getUTCFullYear(), month, Math.min(date.getUTCDate(), lastDay));
}
