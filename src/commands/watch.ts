import { Worker } from "node:worker_threads";
import type { ClientBase } from "pg";
import { withClient } from "../database/client.ts";
import { countCommitted } from "../database/migrations/migration-files.ts";
import { CurrentWatch } from "../database/migrations/watch-current.ts";
import type { Run } from "../database/migrations/watch-current.ts";
import { urlAsOwner, requireOwner } from "../database/roles.ts";
import { catalogQuery } from "../../plugins/index.ts";
import type { App } from "../process/open-app.ts";
import { readSettings } from "../process/settings.ts";
import { startFromSettings } from "./start.ts";
import { say } from "./terminal.ts";
import type { Running } from "./terminal.ts";
import { paint, printAnswer } from "./watch/screen.ts";
import type { Answer, Question, StudyData } from "./watch/study.ts";

/** The service, whose API follows the migration in db/current while you write it. */
export async function watch(stopping: AbortSignal): Promise<Running> {
  const settings = readSettings();
  if (settings.databaseUrl !== undefined) await withClient(settings.databaseUrl, requireOwner);
  const service = await startFromSettings(settings, stopping);
  const adminUrl = service.database.adminUrl ?? service.database.url;
  const study = new Study(urlAsOwner(adminUrl));
  const follower = new Follower(service.app!, study);
  const watching = new CurrentWatch(adminUrl, {
    locks: settings.migrationLocks,
    beforeCommit: (client) => follower.prepare(client),
    onRun: (run) => void follower.follow(run),
    onFailure: ({ message }) => say(`\n${paint("red", message)}`),
    onWait: say,
  });
  return {
    failed: service.failed,
    async stop() {
      await watching.stop();
      await study.close();
      await service.stop();
    },
  };
}

/** Has the API follow the database. */
class Follower {
  readonly #app: App;
  readonly #study: Study;
  #use: (() => void) | null = null;
  #catalog: string | null = null;
  /** The files that were run last, and how many migrations were committed by then. */
  #known: { files: readonly string[]; committed: number } | null = null;

  constructor(app: App, study: Study) {
    this.#app = app;
    this.#study = study;
  }

  /** Builds the API while the migration can still be undone. */
  async prepare(client: ClientBase): Promise<void> {
    const read = async (schemaName: string) => {
      const { rows } = await client.query<{ introspection: string }>(catalogQuery, [[schemaName]]);
      return (this.#catalog = rows[0]!.introspection);
    };
    try {
      this.#use = await this.#app.prepare(read);
    } catch (error) {
      throw new Error(`The API can't be built from it: ${(error as Error).message}`, { cause: error });
    }
  }

  async follow({ files, isNew, ms }: Run): Promise<void> {
    const [use, catalog] = [this.#use, this.#catalog];
    this.#use = this.#catalog = null;
    if (isNew) {
      use?.();
      const names = files.length === 0 ? "nothing" : files.join(", ");
      say(
        `\n${paint("bold", `db/current has been run (${names}), in ${Math.round(ms)} ms.`)} The API follows the database.`,
      );
    }
    await this.#tellOfRemains(files);
    try {
      // Those that are frozen, and what else is remembered
      await this.#app.reload();
      if (!isNew) say("The API follows the database.");
    } catch (error) {
      say(`The API stays as it was: ${String(error)}`);
    }
    this.#study.ask({ catalog });
  }

  async #tellOfRemains(files: readonly string[]): Promise<void> {
    const committed = await countCommitted();
    const gone = this.#known?.files.filter((file) => !files.includes(file)) ?? [];
    if (gone.length > 0 && committed === this.#known!.committed)
      say(`What ${gone.join(", ")} did is still in the database: undo it by SQL, or make the database anew.`);
    this.#known = { files, committed };
  }
}

/** The thread that finds out what a change means. */
class Study {
  readonly #worker: Worker;
  #isBusy = false;
  #next: Question | null = null;

  constructor(ownerUrl: string) {
    const workerData: StudyData = { ownerUrl };
    this.#worker = new Worker(new URL("watch/study.ts", import.meta.url), { workerData });
    this.#worker.on("message", (answer: Answer) => this.#tell(answer));
    this.#worker.on("error", (error) => say(`What changes mean can't be told any more: ${String(error)}`));
  }

  /** Questions of what is under way become one after it. */
  ask(question: Question): void {
    if (this.#isBusy) {
      this.#next = question;
      return;
    }
    this.#isBusy = true;
    this.#worker.postMessage(question);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #tell(answer: Answer): void {
    this.#isBusy = false;
    const text = printAnswer(answer);
    if (text !== "") say(`\n${text}`);
    const next = this.#next;
    this.#next = null;
    if (next !== null) this.ask(next);
  }
}
