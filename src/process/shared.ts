import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { defaultIssuer } from "../auth/access-token.ts";
import type { FirstRights } from "../auth/first-rights.ts";
import type { UsageOptions } from "../auth/usage.ts";
import type { Share } from "../postgres/allotment.ts";
import { listenAlways } from "../postgres/change-listener.ts";
import type { Listen } from "../postgres/change-listener.ts";
import { Documentation } from "../documentation/documentation.ts";
import { SchemaThread } from "../graphql/schema-thread.ts";
import type { OnWorked, SchemaWork } from "../graphql/schema-thread.ts";
import { collectProcessMetrics } from "../http/metrics.ts";
import type { Closing } from "../lib/closing.ts";
import { EventLoopQueue } from "../lib/event-loop-queue.ts";
import type { Readiness } from "../lib/readiness.ts";
import { Renderer } from "../pdf/renderer.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { AppSettings } from "./app-settings.ts";
import { buildVersions } from "./build-versions.ts";
import type { BuildOptions, ServeVersions } from "./build-versions.ts";

/**
 * The process, as the service for one merchant sees it. A service that is alone has all of this for itself; one of many
 * (src/merchants) shares some, has a part of some, and a name to tell it apart.
 */
export interface Shared {
  /** The issuer of its access tokens. */
  issuer: string;
  /** Has its figures say whose they are. */
  labelFigures: (registry: Registry) => void;
  /**
   * Rights that were read to open it; null at the start of a process, where everything is read and checked first. A
   * service that is opened again and again finds out what is wrong when it needs it.
   */
  firstRights: FirstRights | null;
  /** Called with the state of the database's migrations, again and again while there are requests. */
  onState: (state: string) => void;
  /** Finds the versions of the API. */
  serveVersions: ServeVersions;
  /** Its share of the connections; null if it may have as many as its pools. */
  share: Share | null;
  /** Listens as long as something lasts, such as a stream. */
  listen: Listen;
  /** Listens to changes of rights. */
  listenWhileUsed: Listen;
  /** How counts of use are written. */
  usage: UsageOptions;
  /** Turns of its clients at the event loop. */
  turns: EventLoopQueue;
  /** Its work with schemas in a thread. */
  schemaWork: (onWorked: OnWorked) => SchemaWork;
  renderer: Pick<Renderer, "render">;
  documentation: Documentation;
}

/** A service while it is opened: the things that all its parts need. */
export interface Opening {
  settings: AppSettings;
  /** Connections of service_login. */
  pool: Pool;
  logger: Logger;
  /** The time in milliseconds since 1970. */
  now: () => number;
  secrets: Secrets;
  readiness: Readiness;
  /** Gets what closes the opened things. */
  closing: Closing;
  shared: Shared;
}

/** The process of a service that is alone there. */
export function alone(options: BuildOptions, closing: Closing): Shared {
  const thread = new SchemaThread();
  const renderer = new Renderer();
  const documentation = new Documentation();
  for (const each of [thread, renderer, documentation]) closing.add(() => each.close());
  return {
    issuer: defaultIssuer,
    labelFigures: collectProcessMetrics,
    firstRights: null,
    onState: () => {},
    serveVersions: buildVersions(options),
    share: null,
    listen: listenAlways,
    listenWhileUsed: listenAlways,
    usage: {},
    turns: new EventLoopQueue(),
    schemaWork: (onWorked) => thread.of("", onWorked),
    renderer,
    documentation,
  };
}
