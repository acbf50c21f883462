import type { Logger } from "pino";
import { settlesWithin } from "./within.ts";

/** Milliseconds that a check may take. */
const checkTimeoutMs = 2_000;

/** Why a part of the service can't work now. */
export interface Obstacle {
  /** For programs, such as `DATABASE_AWAY`. */
  code: string;
  /** For people. Anyone may read it, so it names no host and no address. */
  message: string;
  /** True if all other work continues: the process is ready, with this remark. */
  isPartial?: boolean;
}

/** Checks one part of the service: null when it works. A check that fails counts as an obstacle. */
export type Check = () => Obstacle | null | Promise<Obstacle | null>;

/** An obstacle, and the part of the service that it affects. */
export interface FailedCheck extends Obstacle {
  part: string;
}

/**
 * Checks whether this process can work now. Each part that may fail adds a check:
 *
 *     readiness.add("versions", () => (isBuilt ? null : { code: "VERSION_NOT_BUILT", message: "…" }));
 */
export class Readiness {
  readonly #checks = new Map<string, Check>();
  readonly #logger: Logger;
  #lastLogged = "";

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Adds the check of a part, or replaces it. */
  add(part: string, check: Check): void {
    this.#checks.set(part, check);
  }

  /** Returns the current obstacles, in the order of the parts; none if the process can work. */
  async findObstacles(): Promise<FailedCheck[]> {
    const answers = await Promise.all(
      [...this.#checks].map(async ([part, check]): Promise<FailedCheck[]> => {
        const obstacle = await this.#run(part, check);
        return obstacle ? [{ part, ...obstacle }] : [];
      }),
    );
    const failed = answers.flat();
    this.#log(failed);
    return failed;
  }

  async #run(part: string, check: Check): Promise<Obstacle | null> {
    try {
      const answer = Promise.resolve(check());
      if (await settlesWithin(checkTimeoutMs, answer)) return await answer;
      return { code: "NO_ANSWER", message: `The ${part} doesn't answer in time.` };
    } catch (error) {
      this.#logger.error({ err: error, part }, "a readiness check failed");
      return { code: "CHECK_FAILED", message: `The ${part} can't be checked.` };
    }
  }

  /** Logs only changes, because a load balancer checks every second. */
  #log(failed: readonly FailedCheck[]): void {
    const now = failed.map(({ part, code }) => `${part}: ${code}`).join(", ");
    if (now === this.#lastLogged) return;
    if (now === "") this.#logger.info("ready again");
    else this.#logger.warn({ obstacles: failed }, "not ready");
    this.#lastLogged = now;
  }
}
