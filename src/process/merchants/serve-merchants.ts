import type { Logger } from "pino";
import { ConnectionBudget } from "../../postgres/connection-budget.ts";
import { ListeningPlaces } from "../../postgres/occasional-listener.ts";
import { SharedDocumentation } from "../../documentation/documentation.ts";
import { SchemaThread } from "../../graphql/schema-thread.ts";
import { HttpServer } from "../../http/http-server.ts";
import { prunedCounter } from "../../http/metrics.ts";
import { Closing } from "../../lib/closing.ts";
import { LoopTurns } from "../../lib/loop-turns.ts";
import { Readiness } from "../../lib/readiness.ts";
import { within } from "../../lib/within.ts";
import { Renderer } from "../../pdf/renderer.ts";
import { Secrets } from "../../secrets/secrets.ts";
import { openTracing } from "../../tracing/open.ts";
import { versions as allVersions } from "../../versions/versions.ts";
import type { Version } from "../../versions/versions.ts";
import { withDefaults } from "../app-settings.ts";
import { sharedVersions } from "../open-versions.ts";
import { defaultStopMs } from "../default-stop.ts";
import { stopping } from "../serve.ts";
import type { Serving } from "../serve.ts";
import type { Settings } from "../settings.ts";
import { boundedByFiles } from "../open-files.ts";
import { Background } from "./background.ts";
import { Directory } from "./directory.ts";
import { front } from "./front.ts";
import { Lane } from "./lane.ts";
import type { Common } from "./open-merchant.ts";
import { OpenMerchants } from "./open-merchants.ts";
import { MerchantsRegistry } from "./registry.ts";
import { workOf } from "./work.ts";

/** Of the connections, how many may be those that listen; and part of the time of a stop for closing all. */
const [shareOfListeners, closingMs] = [1 / 4, 1_500];
/** Of the connections, how many background work may have, and how many at least; and of these, what keeps some for long. */
const [shareOfBackground, fewest, ofSteady] = [1 / 4, 4, 4];

/** Merchants whose counts of use are written at a time, and of one server: requests need it more. */
const [countsAtOnce, countsOfServer] = [8, 2];

export interface ServeMerchantsOptions {
  settings: Settings & { merchants: string };
  logger: Logger;
  /** Whether it watches all merchants for background work, and not only those that it writes to. */
  isBackground?: boolean;
  /** For tests. */
  versions?: readonly Version[];
  now?: () => number;
  idleMs?: number;
  aloneAfterMs?: number | undefined;
  spreadMs?: number;
}

/** The serving of many merchants by one process. */
export interface ServingMerchants extends Omit<Serving, "app" | "takeOver"> {
  merchants: OpenMerchants;
}

/**
 * Serves all merchants of the directory.
 *
 * @throws {UserError} when the directory can't be read, or the port is taken
 */
export async function serveMerchants(options: ServeMerchantsOptions): Promise<ServingMerchants> {
  const { settings, logger, versions = allVersions, now = Date.now, idleMs, aloneAfterMs } = options;
  const closing = new Closing();
  const { merchantConnections, merchantStatements: mostStatements } = settings;
  const budget = new ConnectionBudget(merchantConnections, { mostStatements, aloneAfterMs });
  const thread = new SchemaThread();
  closing.add(() => thread.close());
  const renderer = new Renderer({ queueOfOne: 10 });
  closing.add(() => renderer.close());
  const documentation = new SharedDocumentation();
  closing.add(() => documentation.thread.close());
  const tracing = await openTracing(settings.traces, logger);
  closing.add(async () => tracing?.close());
  const secrets = new Secrets(settings.secretsKeys);
  const common: Common = {
    ...{ settings, logger, budget, thread, renderer, documentation, tracing, ...withoutClosing() },
    versions: sharedVersions({ settings: withDefaults(settings), versions, now, secrets, logger }),
    ...{ offered: versions, now, onCounted: (name, rows) => background.noteCounted(name, rows) },
    places: new ListeningPlaces(Math.ceil(merchantConnections * shareOfListeners)),
  };
  const merchants = new OpenMerchants(common, idleMs);
  closing.add(() => merchants.close());
  const background: Background = startBackground(options, merchants, common);
  const directory = new Directory(settings.merchants, logger, (name) => {
    merchants.outdate(name);
    background.outdate(name, directory.named(name));
  });
  closing.add(() => directory.close());
  const readiness = new Readiness(logger);
  let isStopping = false;
  readiness.add("process", () => (isStopping ? stopping : null));
  try {
    await directory.open();
    const listener = front(directory, merchants, {
      ...{ settings, logger, readiness, versions, now },
      onWritten: (name) => background.wake(name),
    });
    const server = new HttpServer(await boundedByFiles(listener, settings, logger));
    await server.listen(settings);
    return {
      merchants,
      figures: new MerchantsRegistry(merchants, common, background),
      port: server.port,
      announceStop: () => void (isStopping = true),
      async stop(withinMs = defaultStopMs) {
        const deadline = performance.now() + withinMs;
        isStopping = true;
        await Promise.all([
          server.stop(deadline - closingMs),
          within(withinMs - closingMs, Promise.all([background.stop(), merchants.writeCounts()])),
        ]);
        await within(Math.max(0, deadline - performance.now()), closing.close());
      },
    };
  } catch (error) {
    await background.stop();
    await closing.close();
    throw error;
  }
}

/** What merchants share that needs no closing. */
const withoutClosing = () => ({
  ...{ loop: new LoopTurns(), pruned: prunedCounter([]), counting: new Lane(countsAtOnce, countsOfServer) },
  migrated: new Set<string>(),
});

/** Begins the background work of all merchants, with a part of their connections. */
function startBackground(
  { settings, logger, isBackground = true, spreadMs }: ServeMerchantsOptions,
  merchants: OpenMerchants,
  { budget, tracing, pruned }: Common,
): Background {
  const connections = Math.max(Math.ceil(settings.merchantConnections * shareOfBackground), fewest);
  const own = new ConnectionBudget(connections);
  // Among the merchants that have requests, it is one
  const within = budget.allot("");
  const allot = (merchant: string) => own.allot(merchant, within);
  const { webhookConcurrency, bulkConcurrency, jobConcurrency } = settings;
  const steady = Math.floor(connections / ofSteady);
  return new Background({
    ...{ settings, logger, merchants, allot, watches: isBackground, spreadMs },
    work: workOf({ settings, merchants, tracing, allot, pruned }),
    sizes: {
      webhooks: webhookConcurrency > 0 ? connections : 0,
      bulk: bulkConcurrency > 0 ? steady : 0,
      jobs: Math.min(jobConcurrency, steady),
    },
  });
}
