import type { Registry } from "prom-client";
import { defaultIssuer } from "../auth/access-token.ts";
import type { InitialRights } from "../auth/rights-now.ts";
import type { UsageOptions } from "../auth/usage.ts";
import type { Share } from "../postgres/allotment.ts";
import { listenAlways } from "../postgres/change-listener.ts";
import type { Listen } from "../postgres/change-listener.ts";
import { Documentation } from "../documentation/documentation.ts";
import { SchemaThread } from "../graphql/schema-thread.ts";
import type { OnWorked, SchemaWork } from "../graphql/schema-thread.ts";
import { collectProcessMetrics } from "../http/metrics.ts";
import { EventLoopQueue } from "../lib/event-loop-queue.ts";
import { Renderer } from "../pdf/renderer.ts";
import { buildVersions } from "./build-versions.ts";
import type { BuildOptions, ServeVersions } from "./build-versions.ts";

/**
 * The parts of a process that the service for one merchant uses. A process with one service has them all for it. One of
 * many services (src/merchants) shares some, gets a portion of others, and has a name of its own.
 */
export interface ProcessParts {
  /** The issuer in its access tokens. */
  issuer: string;
  /** Adds the merchant's name to its metrics. */
  labelMetrics: (registry: Registry) => void;
  /**
   * The rights that were read to open it; null at the start of a process with one service, which reads and checks
   * everything first. One of many services is opened often, and finds faults when it needs something.
   */
  firstRights: InitialRights | null;
  /** Called repeatedly with the state of the database's migrations while there are requests. */
  onState: (state: string) => void;
  /** Builds or finds the versions of the API. */
  serveVersions: ServeVersions;
  /** Its share of the connections; null if only its pools limit them. */
  share: Share | null;
  /** Listens for as long as something needs it, such as a stream. */
  listen: Listen;
  /** Listens for changes of rights. */
  listenWhileUsed: Listen;
  /** Options for writing usage counts. */
  usage: UsageOptions;
  /** The queue in which its clients take turns on the event loop. */
  turns: EventLoopQueue;
  /** Runs its work on schemas in a worker thread. */
  schemaWork: (onWorked: OnWorked) => SchemaWork;
  renderer: Pick<Renderer, "render">;
  documentation: Documentation;
}

/** Creates the parts of a process with one service. */
export function createProcessParts(options: BuildOptions, closing: AsyncDisposableStack): ProcessParts {
  const thread = new SchemaThread();
  const renderer = new Renderer();
  const documentation = new Documentation();
  for (const each of [thread, renderer, documentation]) closing.defer(() => each.close());
  return {
    issuer: defaultIssuer,
    labelMetrics: collectProcessMetrics,
    firstRights: null,
    onState: () => {},
    serveVersions: buildVersions(options),
    share: null,
    listen: listenAlways,
    listenWhileUsed: listenAlways,
    usage: {},
    turns: new EventLoopQueue(),
    schemaWork: (onWorked) => thread.forMerchant("", onWorked),
    renderer,
    documentation,
  };
}
