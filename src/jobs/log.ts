import { Logger as QueueLogger } from "graphile-worker";
import type { Job } from "graphile-worker";
import type { Logger } from "pino";

interface Meta {
  failure?: boolean;
  success?: boolean;
  job?: Job;
  duration?: number;
  error?: unknown;
}

/** Makes graphile-worker write to the service's log: what becomes of each job, and its own troubles. */
export function queueLogger(logger: Logger): QueueLogger {
  return new QueueLogger(() => (level, message, meta) => {
    const { failure, success, job, duration, error } = meta as Meta;
    if (job && (failure || success)) {
      const details = { job: describe(job), milliseconds: Math.round(duration ?? 0) };
      if (success) logger.info(details, "a job is done");
      else logger.error({ ...details, err: error }, "a job failed");
    } else if (level === "error" || level === "warning") {
      logger.warn({ err: error }, `background work: ${message}`);
    } else logger.debug(`background work: ${message}`);
  });
}

/** What tells a job from others. What it is about may be long, and none of the log's business. */
function describe({ id, task_identifier, attempts, max_attempts }: Job) {
  return { id, task: task_identifier, attempts, maxAttempts: max_attempts };
}
