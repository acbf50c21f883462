import "./graphile-env.ts";
// One of the processes of `npm start -- --workers N`. Its parent tells it what to do, and it ends with its parent.
import { once } from "node:events";
import { pino } from "pino";
import { waitingFor } from "../database/wait.ts";
import { UserError } from "../errors/user-error.ts";
import { serveMerchants } from "./merchants/serve-merchants.ts";
import { serve } from "./serve.ts";
import type { FiguresMessage } from "./figures-of-processes.ts";
import type { FromWorkerProcess, Order, ToWorkerProcess } from "./worker-processes.ts";

const tell = (message: FromWorkerProcess | FiguresMessage) => void process.send?.(message);

// The parent decides when to stop; the terminal sends its signals to all processes
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

const [{ urls, settings, isBackground, positions }] = (await once(process, "message")) as [ToWorkerProcess];
try {
  const logger = pino({ level: settings.logLevel });
  const { merchants, databaseWaitMs: waitMs } = settings;
  const onWaiting = (line: string) => void process.stdout.write(`${line}\n`);
  const serving =
    urls === null
      ? await serveMerchants({ settings: { ...settings, merchants: merchants! }, logger, isBackground })
      : // It may have stopped since the parent has checked it, and also when one process replaces another
        await waitingFor({ url: urls.databaseUrl, waitMs, onWaiting }, () =>
          serve({ ...urls, settings, logger, isBackground, positions }),
        );
  process.on("message", ({ order, withinMs }: Order) => {
    if (order === "announce stop") serving.announceStop();
    if (order === "figures")
      serving.figures.getMetricsAsJSON().then(
        (figures) => tell({ figures }),
        (error: unknown) => {
          logger.warn({ err: error }, "can't tell figures");
          tell({ figures: null });
        },
      );
    if (order === "stop") void serving.stop(withinMs).finally(() => process.exit(0));
  });
  process.on("disconnect", () => process.exit(1));
  tell({ port: serving.port });
} catch (error) {
  tell({ failure: error instanceof UserError ? error.message : String((error as Error)?.stack) });
  process.exit(1);
}
