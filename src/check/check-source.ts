import type { ClientBase } from "pg";
import type { UnplacedFinding } from "./finding.ts";
import type { OldColumns } from "./old-columns.ts";
import type { Places } from "./places.ts";
import type { Script } from "./script.ts";
import type { ApiState } from "./state.ts";

/** The input of a check. */
export interface CheckInput {
  /** The database with all uncommitted migrations, as its owner. */
  client: ClientBase;
  /** Uncommitted migrations: the files of db/current, or the migrations that a database doesn't have yet. */
  scripts: readonly Script[];
  /** The columns of tables that existed before. */
  oldColumns: OldColumns;
  places: Places;
  /** The API before these migrations; null to compare nothing. */
  before: ApiState | null;
  /** Reads the API with these migrations. */
  after: () => Promise<ApiState>;
  /** The database in which the service recorded who uses which field. */
  recorded: ClientBase;
}

/** A check for one or more kinds of faults. */
export interface CheckStep {
  /** One or two words, for the message when the check can't run. */
  name: string;
  find(subject: CheckInput): Promise<UnplacedFinding[]>;
}
