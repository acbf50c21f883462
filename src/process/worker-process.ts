import "./graphile-env.ts";
// One of the processes of `npm start -- --workers N`. Its parent tells it what to do, and it ends with its parent.
import { once } from "node:events";
import { pino } from "pino";
import { waitingFor } from "../postgres/wait.ts";
import { UserError } from "../errors/user-error.ts";
import { serveMerchants } from "./merchants/serve-merchants.ts";
import { serve } from "./serve.ts";
import type { FiguresMessage } from "./figures-of-processes.ts";
import type { FromWorkerProcess, Order, ToWorkerProcess } from "./worker-messages.ts";

const tell = (message: FromWorkerProcess | FiguresMessage) => void process.send?.(message);

// The parent decides when to stop; the terminal sends its signals to all processes
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

const [{ urls, settings, isBackground, positions }] = (await once(process, "message")) as [ToWorkerProcess];
let serving: Awaited<ReturnType<typeof serve | typeof serveMerchants>> | null = null;
let isAnnounced = false;
process.on("message", ({ order, withinMs, column }: Order) => {
  if (order === "announce stop") {
    isAnnounced = true;
    serving?.announceStop();
  }
  if (order === "figures") void tellFigures();
  // Only processes of one database have positions
  if (order === "take over" && serving && "takeOver" in serving) serving.takeOver(column);
  // While it starts, nobody is waiting for an answer of it
  if (order === "stop") void Promise.resolve(serving?.stop(withinMs)).finally(() => process.exit(0));
});
process.on("disconnect", () => process.exit(1));

const logger = pino({ level: settings.logLevel });
const figures = () => serving!.figures.getMetricsAsJSON();

function tellFigures(): Promise<void> {
  return figures().then(
    (told) => tell({ figures: told }),
    (error: unknown) => {
      logger.warn({ err: error }, "can't tell figures");
      tell({ figures: null });
    },
  );
}

try {
  const { merchants, databaseWaitMs: waitMs } = settings;
  const onWaiting = (line: string) => void process.stdout.write(`${line}\n`);
  serving =
    urls === null
      ? await serveMerchants({ settings: { ...settings, merchants: merchants! }, logger, isBackground })
      : // It may have stopped since the parent has checked it, and also when one process replaces another
        await waitingFor({ url: urls.databaseUrl, waitMs, onWaiting }, () =>
          serve({ ...urls, settings, logger, isBackground, positions }),
        );
  if (isAnnounced) serving.announceStop();
  // Its figures, too, in case that it doesn't answer when it is asked for them
  tell({ port: serving.port, figures: await figures().catch(() => []) });
} catch (error) {
  tell({ failure: error instanceof UserError ? error.message : String((error as Error)?.stack) });
  process.exit(1);
}
