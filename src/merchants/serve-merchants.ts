import { Readiness } from "../lib/readiness.ts";
import { listen } from "../process/listen.ts";
import type { Serving } from "../process/listen.ts";
import type { Settings } from "../process/settings.ts";
import { versions as allVersions } from "../versions/versions.ts";
import type { Version } from "../versions/versions.ts";
import { Background } from "./background.ts";
import { openSharedParts } from "./common.ts";
import type { SharedPartsOptions } from "./common.ts";
import { Directory } from "./directory.ts";
import { createRouter } from "./front.ts";
import { MerchantsRegistry } from "./merchants-registry.ts";
import { OpenMerchants } from "./open-merchants.ts";

export interface ServeMerchantsOptions extends Omit<SharedPartsOptions, "versions"> {
  settings: Settings & { merchants: string };
  /** Whether this process watches all merchants for background work, and not only those that it writes to. */
  isBackground?: boolean;
  /** For tests. */
  versions?: readonly Version[];
}

/** A running process that serves many merchants. */
export interface ServingMerchants extends Serving {
  merchants: OpenMerchants;
}

/**
 * Serves all merchants of the directory.
 *
 * @throws {UserError} when the directory can't be read, or the port is taken
 */
export async function serveMerchants(options: ServeMerchantsOptions): Promise<ServingMerchants> {
  const { settings, logger, isBackground = true, versions = allVersions } = options;
  const closing = new AsyncDisposableStack();
  let started: Background | undefined;
  try {
    const common = await openSharedParts({ ...options, versions }, closing);
    const merchants = new OpenMerchants(common, (name, rows) => background.noteCounted(name, rows));
    closing.defer(() => merchants.close());
    const background: Background = new Background(common, merchants, isBackground);
    started = background;
    const directory = new Directory(settings.merchants, logger, (name) => {
      merchants.invalidate(name);
      background.update(name, directory.findByName(name));
    });
    closing.defer(() => directory.close());
    const readiness = new Readiness(logger);
    await directory.open();
    const onWritten = (name: string) => background.wake(name);
    const serving = await listen({
      settings,
      logger,
      listener: createRouter(directory, merchants, { settings, logger, readiness, versions, onWritten }),
      readiness,
      figures: new MerchantsRegistry(common, merchants, background),
      begin: () => [background, { stop: () => merchants.writeCounts() }],
      closing,
    });
    return { ...serving, merchants };
  } catch (error) {
    // After a successful start, the stop of the service does this
    await started?.stop();
    await closing.disposeAsync();
    throw error;
  }
}
