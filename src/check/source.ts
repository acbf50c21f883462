import type { ClientBase } from "pg";
import type { Finding } from "./finding.ts";
import type { Places } from "./places.ts";
import type { Script } from "./script.ts";

/** What a check examines. */
export interface Subject {
  /** The database with all uncommitted migrations, as its owner. */
  client: ClientBase;
  /** Uncommitted migrations: the files of db/current, or the migrations that a database doesn't have yet. */
  scripts: readonly Script[];
  places: Places;
}

/** A check, which finds one kind of fault, or several. */
export interface Source {
  /** In one or two words, for the message when it can't run. */
  name: string;
  find(subject: Subject): Promise<Finding[]>;
}
