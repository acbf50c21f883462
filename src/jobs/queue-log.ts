import { Logger as QueueLogger } from "graphile-worker";
import type { Job } from "graphile-worker";
import type { Logger } from "pino";

interface Meta {
  failure?: boolean;
  success?: boolean;
  job?: Job;
  duration?: number;
  error?: unknown;
  /** Report of a task about its work. */
  report?: object;
}

/** Sends graphile-worker's messages to the service's log: the results of jobs, and its own problems. */
export function queueLogger(logger: Logger): QueueLogger {
  return new QueueLogger(() => (level, message, meta) => {
    const { failure, success, job, duration, error, report } = meta as Meta;
    if (report) return logger.info(report, message);
    if (job && (failure || success)) {
      const details = { job: describe(job), milliseconds: Math.round(duration ?? 0) };
      if (success) logger.info(details, "a job is done");
      else logger.error({ ...details, err: error }, "a job failed");
    } else if (level === "error" || level === "warning") {
      logger.warn({ err: error }, `background work: ${message}`);
    } else logger.debug(`background work: ${message}`);
  });
}

/** The identity of a job. Its payload may be long and doesn't belong into the log. */
function describe({ id, task_identifier, attempts, max_attempts }: Job) {
  return { id, task: task_identifier, attempts, maxAttempts: max_attempts };
}
