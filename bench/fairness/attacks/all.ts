import type { Attack } from "../attack.ts";
import { byConnections } from "./connections.ts";
import { byDocuments } from "./documents.ts";
import { byLoops } from "./loops.ts";
import { payloadQueries } from "./payload-queries.ts";
import { byRequests } from "./requests.ts";
import { uploads } from "./uploads.ts";

/** All attacks, in the order in which they run. */
export const attacks: readonly Attack[] = [
  ...byDocuments,
  payloadQueries,
  ...byConnections,
  ...byRequests,
  uploads,
  ...byLoops,
];
