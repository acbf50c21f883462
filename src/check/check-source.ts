import type { ClientBase } from "pg";
import type { Found } from "./finding.ts";
import type { OldColumns } from "./old-columns.ts";
import type { Places } from "./places.ts";
import type { Script } from "./script.ts";
import type { ApiState } from "./state.ts";

/** What a check examines. */
export interface Subject {
  /** The database with all uncommitted migrations, as its owner. */
  client: ClientBase;
  /** Uncommitted migrations: the files of db/current, or the migrations that a database doesn't have yet. */
  scripts: readonly Script[];
  /** The columns of tables that were there before. */
  oldColumns: OldColumns;
  places: Places;
  /** What clients saw before; null when that isn't to be compared. */
  before: ApiState | null;
  /** What they see now. */
  after: () => Promise<ApiState>;
  /** The database whose service has noted who uses what. */
  recorded: ClientBase;
}

/** A check, which finds one kind of fault, or several. */
export interface Source {
  /** In one or two words, for the message when it can't run. */
  name: string;
  find(subject: Subject): Promise<Found[]>;
}
