import { once } from "node:events";
import { pino } from "pino";
import type { Logger } from "pino";
import { UserError } from "../errors/user-error.ts";
import type { Serving } from "./listen.ts";
import type { Settings } from "./settings.ts";
import type { FiguresMessage, Order, WorkerAnswer, WorkerStart } from "./worker-messages.ts";

/** The options of one process. */
export interface WorkerOwn extends Pick<WorkerStart<unknown>, "isBackground" | "positions"> {
  logger: Logger;
}

const send = (message: WorkerAnswer | FiguresMessage) => void process.send?.(message);

/** Serves as one of several processes. Its parent says what to do, and it ends with its parent. */
export async function runWorker<Options extends { settings: Settings }>(
  serve: (options: Options, own: WorkerOwn) => Promise<Serving>,
): Promise<void> {
  // The parent decides when to stop; the terminal sends its signals to all processes
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
        logger.warn({ err: error }, "can't tell figures");
        send({ figures: null });
      },
    );
  process.on("message", (message: Order) => {
    if (message.order === "announce stop") {
      isAnnounced = true;
      serving?.announceStop();
    } else if (message.order === "figures") void sendFigures();
    else if (message.order === "take over") serving?.takeOver?.(message.column);
    // While it starts, nobody is waiting for an answer of it
    else void Promise.resolve(serving?.stop(message.withinMs)).finally(() => process.exit(0));
  });
  process.on("disconnect", () => process.exit(1));
  try {
    serving = await serve(options, { ...start, logger });
    if (isAnnounced) serving.announceStop();
    // Its figures, too, in case that it doesn't answer when it is asked for them
    send({ port: serving.port, figures: await figures().catch(() => []) });
  } catch (error) {
    send({ failure: error instanceof UserError ? error.message : String((error as Error)?.stack) });
    process.exit(1);
  }
}
