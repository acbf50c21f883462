import "./graphile-env.ts";
// The program of one of several worker processes that serve one database.
import { waitForDatabase } from "../postgres/wait.ts";
import { runWorker } from "./run-worker.ts";
import { serve } from "./serve.ts";
import type { ReadyDatabase } from "./serve.ts";
import type { Settings } from "./settings.ts";

await runWorker<ReadyDatabase & { settings: Settings }>((options, own) => {
  const { databaseUrl: url, settings } = options;
  const onWaiting = (line: string) => void process.stdout.write(`${line}\n`);
  // Postgres may have stopped since the parent checked it. Building the API takes long
  const wait = { url, waitMs: settings.databaseWaitMs, onWaiting, isLong: true };
  return waitForDatabase(wait, () => serve({ ...options, ...own }));
});
