import type { FirstRights } from "../auth/first-rights.ts";
import type { Share } from "../postgres/connection-budget.ts";
import type { ListeningPlaces } from "../postgres/occasional-listener.ts";
import type { SharedDocumentation } from "../documentation/documentation.ts";
import type { SchemaThread } from "../graphql/schema-thread.ts";
import type { LoopTurns } from "../lib/loop-turns.ts";
import type { Renderer } from "../pdf/renderer.ts";
import type { SharedVersions } from "../versions/shared-versions.ts";

/** What the apps of several merchants in a process share, and what tells them apart. */
export interface SharedParts {
  /** The merchant's name, in its tokens, its log and its metrics. */
  merchant: string;
  versions: SharedVersions;
  /** What was read when it was opened. The versions are found by its state of migrations. */
  firstRights: FirstRights;
  /** Called with that state as it is later, again and again while there are requests. */
  onState: (state: string) => void;
  loop: LoopTurns;
  thread: SchemaThread;
  renderer: Renderer;
  documentation: SharedDocumentation;
  /** For those who listen to changes of rights. */
  places: ListeningPlaces;
  /** Of the connections. */
  share: Share;
  /** Called when counts of use have been written, with the number of rows. */
  onCounted: (rows: number) => void;
  /** Runs the writing of these counts when it is the merchant's turn. */
  inTurn: (write: () => Promise<void>) => void;
}
