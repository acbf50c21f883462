import { once } from "node:events";
import { pino } from "pino";
import type { Logger } from "pino";
import { UserError } from "../errors/user-error.ts";
import type { Serving } from "./listen.ts";
import type { Settings } from "./settings.ts";
import type { MetricsMessage, WorkerOrder, WorkerResponse, WorkerStart } from "./worker-messages.ts";

/** The options that differ between worker processes. */
export interface OwnOptions extends Pick<WorkerStart<unknown>, "isBackground" | "positions"> {
  logger: Logger;
}

const send = (message: WorkerResponse | MetricsMessage) => void process.send?.(message);

/** Serves as one of several worker processes. Its parent tells it what to do, and it ends with its parent. */
export async function runWorker<Options extends { settings: Settings }>(
  serve: (options: Options, own: OwnOptions) => Promise<Serving>,
): Promise<void> {
  // The terminal sends its signals to all processes, but the parent decides when to stop
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  const [{ options, ...start }] = (await once(process, "message")) as [WorkerStart<Options>];
  const logger = pino({ level: options.settings.logLevel });
  let serving: Serving | null = null;
  let isAnnounced = false;
  const figures = () => serving!.figures.getMetricsAsJSON();
  const sendFigures = () =>
    figures().then(
      (found) => send({ figures: found }),
      (error: unknown) => {
        logger.warn({ err: error }, "can't read the metrics");
        send({ figures: null });
      },
    );
  process.on("message", (message: WorkerOrder) => {
    if (message.order === "announce stop") {
      isAnnounced = true;
      serving?.announceStop();
    } else if (message.order === "figures") void sendFigures();
    else if (message.order === "take over") serving?.takeOver?.(message.column);
    // While it starts, it has no requests to finish
    else void Promise.resolve(serving?.stop(message.withinMs)).finally(() => process.exit(0));
  });
  process.on("disconnect", () => process.exit(1));
  try {
    serving = await serve(options, { ...start, logger });
    if (isAnnounced) serving.announceStop();
    // With its metrics, in case it fails to respond to the first order for them
    send({ port: serving.port, figures: await figures().catch(() => []) });
  } catch (error) {
    send({ failure: error instanceof UserError ? error.message : String((error as Error)?.stack) });
    process.exit(1);
  }
}
