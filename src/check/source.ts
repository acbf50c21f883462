import type { ClientBase } from "pg";
import type { Finding } from "./finding.ts";
import type { Places } from "./places.ts";
import type { Script } from "./script.ts";

/** What a check looks at. */
export interface Subject {
  /** The database with all that is being written in it, as its owner. */
  client: ClientBase;
  /** What is being written: the files of db/current, or the migrations that a database doesn't have yet. */
  scripts: readonly Script[];
  places: Places;
}

/** One kind of fault, or several, that a check finds. */
export interface Source {
  /** In one or two words, for when it can't be run. */
  name: string;
  find(subject: Subject): Promise<Finding[]>;
}
