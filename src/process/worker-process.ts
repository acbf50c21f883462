import "./graphile-env.ts";
// One of several processes that serve one database.
import { waitingFor } from "../postgres/wait.ts";
import { runWorker } from "./run-worker.ts";
import { serve } from "./serve.ts";
import type { ReadyDatabase } from "./serve.ts";
import type { Settings } from "./settings.ts";

await runWorker<ReadyDatabase & { settings: Settings }>((options, own) => {
  const { databaseUrl: url, settings } = options;
  const onWaiting = (line: string) => void process.stdout.write(`${line}\n`);
  // It may have stopped since the parent has checked it, and also when one process replaces another
  return waitingFor({ url, waitMs: settings.databaseWaitMs, onWaiting }, () => serve({ ...options, ...own }));
});
