import type { ClientBase } from "pg";
import { catalogQuery } from "../../../plugins/index.ts";
import { databaseFailure } from "../../errors/postgres-errors.ts";
import type { Rehearsal } from "../../migrations/migrate-options.ts";
import type { Run } from "../../migrations/watch-current.ts";
import type { App } from "../../process/open-app.ts";
import { versions } from "../../versions/versions.ts";
import { paint, say } from "../terminal.ts";
import type { Study } from "./study.ts";

const head = versions.find(({ kind }) => kind === "floating")!;

/** Has the API follow the database. */
export class Follower implements Rehearsal {
  readonly #app: App;
  readonly #study: Study;
  #use: (() => void) | null = null;
  #catalog: string | null = null;
  #isFirst = true;

  constructor(app: App, study: Study) {
    this.#app = app;
    this.#study = study;
  }

  begin(): void {
    this.#study.pause();
  }

  async inspect(client: ClientBase): Promise<void> {
    const { rows } = await client.query<{ introspection: string }>(catalogQuery, [[head.schemaName]]);
    this.#catalog = rows[0]!.introspection;
  }

  /** Builds the API before the migration is run for good. */
  async evaluate(): Promise<void> {
    const catalog = this.#catalog!;
    try {
      this.#use = await this.#app.prepare(() => Promise.resolve(catalog));
    } catch (error) {
      throw new Error(`The API can't be built from it: ${(error as Error).message}`, { cause: error });
    }
  }

  async follow({ files, isNew, ms }: Run): Promise<void> {
    const [use, isFirst] = [this.#use, this.#isFirst];
    this.#use = this.#catalog = null;
    this.#isFirst = false;
    if (isNew) {
      use?.();
      const names = files.length === 0 ? "nothing" : files.join(", ");
      say(
        `\n${paint("bold", `db/current has been run (${names}), in ${Math.round(ms)} ms.`)} The API follows the database.`,
      );
    }
    const isChanged = await this.#reload();
    if (!isNew && (isChanged || isFirst)) say("The API follows the database.");
    if (isNew || isChanged || isFirst) this.#study.ask({ isFirst });
    else this.#study.resume();
  }

  /** Rebuilds frozen versions and other cached parts. @returns whether anything changed */
  async #reload(): Promise<boolean> {
    try {
      return (await this.#app.reload()).length > 0;
    } catch (error) {
      // A lost connection is no failure: it is retried when the database is back
      if (!isLoss(error)) say(`The API stays as it was: ${String(error)}`);
      return false;
    }
  }
}

/** Whether an error says that the database can't be reached, or one that it came from. */
const isLoss = (error: unknown): boolean =>
  error instanceof Error && (databaseFailure(error)?.code === "SERVICE_UNAVAILABLE" || isLoss(error.cause));
