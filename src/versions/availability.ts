import type { Pool } from "pg";
import type { Logger } from "pino";
import { databaseFailure } from "../errors/postgres-errors.ts";
import { UserError } from "../errors/user-error.ts";
import { pause } from "../lib/retry.ts";
import type { ServedVersion } from "./serve-version.ts";

/** Seconds until a version that can't be built is tried again. */
export const retryAfterSeconds = 30;

/** A problem of a version: it answers 503, or differs from its release. */
export interface VersionFault {
  version: string;
  state: "unavailable" | "different";
  /** Names of missing or different parts; clients may see them. */
  reason: string;
}

/** Tracks which versions can be served, so that one that can't be doesn't stop the others. */
export class Availability {
  readonly #served: readonly ServedVersion[];
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  #isRetrying = false;
  /** How frozen versions differ from their records, by Postgres schema. */
  #differences = new Map<string, string[]>();
  /** The last state that was logged. */
  #lastLogged = "";

  constructor(served: readonly ServedVersion[], pool: Pool, logger: Logger) {
    this.#served = served;
    this.#pool = pool;
    this.#logger = logger;
  }

  /**
   * Checks the built versions.
   *
   * @throws {UserError} when no version can be served
   * @throws the failure of a version for which the database was unavailable: a start waits for the database
   */
  async check(): Promise<void> {
    const failures = this.#served.filter((each) => each.failure() !== null);
    const lost = failures.find((each) => databaseFailure(each.failure())?.code === "SERVICE_UNAVAILABLE");
    if (lost) throw lost.failure()!;
    await this.#readDifferences();
    this.#logFaults();
    if (failures.length === this.#served.length && failures.length > 0) {
      const reasons = failures.map((each) => `  ${each.version.slug}: ${each.failure()!.message}`);
      throw new UserError(`No version of the API can be built from the database:\n${reasons.join("\n")}`, {
        cause: failures[0]!.failure(),
      });
    }
    if (failures.length > 0) void this.#retry();
  }

  /** Whether a version can't answer now. */
  isUnavailable(slug: string): boolean {
    return this.#served.some((each) => each.version.slug === slug && each.failure() !== null);
  }

  /** All problems, for health and log. */
  faults(): VersionFault[] {
    return this.#served.flatMap(({ version: { slug, schemaName }, failure }) => {
      const differences = this.#differences.get(schemaName) ?? [];
      const isUnavailable = failure() !== null;
      if (!isUnavailable && differences.length === 0) return [];
      const reason = differences.join("; ") || "Its schema can't be built; the log says why.";
      return [{ version: slug, state: isUnavailable ? "unavailable" : "different", reason }];
    });
  }

  /** Returns the obstacle to readiness: partial, because all other versions continue. */
  obstacle(): { code: string; message: string; isPartial: true } | null {
    const faults = this.faults();
    if (faults.length === 0) return null;
    const message = faults
      .map(({ version, state, reason }) => `${version} is ${state}: ${reason}`)
      .join(". ");
    return { code: "VERSION_UNAVAILABLE", message, isPartial: true };
  }

  /**
   * Builds the versions that change, from their catalogs as a transaction is about to leave them.
   *
   * @param read reads the catalog of a version's Postgres schema
   * @returns a function that puts them in the place of the current ones
   * @throws the reason why one couldn't be built
   */
  async prepare(read: (schemaName: string) => Promise<string>): Promise<() => void> {
    const uses: ((() => void) | null)[] = [];
    for (const { version, prepare } of this.#served.filter((each) => each.version.kind === "floating"))
      uses.push(await prepare(await read(version.schemaName)));
    return () => uses.forEach((use) => use?.());
  }

  /**
   * Rebuilds all versions that have changed in the database.
   *
   * @returns their names
   * @throws the first failure, after all have been tried
   */
  async reload(): Promise<string[]> {
    const results = await Promise.allSettled(this.#served.map((each) => each.reload()));
    await this.#readDifferences();
    this.#logFaults();
    const failed = results.findIndex((result) => result.status === "rejected");
    if (failed === -1)
      return this.#served.filter((_, i) => hasChanged(results[i]!)).map((each) => each.version.slug);
    const reason: unknown = (results[failed] as PromiseRejectedResult).reason;
    throw new Error(`${this.#served[failed]!.version.slug}: ${(reason as Error).message}`, { cause: reason });
  }

  close(): void {
    this.#closing.abort();
  }

  /** Reads changes that were made outside of migrations. Only for information, so its failure stops nothing. */
  async #readDifferences(): Promise<void> {
    if (this.#served.every(({ version }) => version.kind === "floating")) return;
    try {
      const { rows } = await this.#pool.query<{ version: string; fault: string }>(
        "select version, fault from api_meta.version_faults()",
      );
      const grouped = Object.groupBy(rows, ({ version }) => version);
      this.#differences = new Map(
        Object.entries(grouped).map(([version, faults]) => [version, faults!.map(({ fault }) => fault)]),
      );
    } catch (error) {
      this.#logger.warn({ err: error }, "versions: can't compare them with their releases");
    }
  }

  #logFaults(): void {
    const faults = this.faults();
    const text = JSON.stringify(faults);
    if (text === this.#lastLogged) return;
    if (faults.length === 0 && this.#lastLogged !== "")
      this.#logger.info("versions: all are served as they were released");
    this.#lastLogged = text;
    for (const { version, state, reason } of faults) {
      const err = this.#served.find((each) => each.version.slug === version)!.failure() ?? undefined;
      const message = {
        unavailable: "versions: one can't be built from the database, and answers 503",
        different: "versions: one differs from its release",
      }[state];
      this.#logger.error({ version, reason, err }, message);
    }
  }

  /** Tries to build the missing versions again, until none is left. */
  async #retry(): Promise<void> {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    const { signal } = this.#closing;
    for (;;) {
      await pause(retryAfterSeconds * 1000, signal);
      const failed = this.#served.filter((each) => each.failure() !== null);
      if (signal.aborted || failed.length === 0) break;
      await Promise.allSettled(failed.map((each) => each.reload()));
      await this.#readDifferences();
      this.#logFaults();
    }
    this.#isRetrying = false;
  }
}

const hasChanged = (result: PromiseSettledResult<boolean>): boolean =>
  result.status === "fulfilled" && result.value;
