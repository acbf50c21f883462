import type { Pool } from "pg";
import type { Logger } from "pino";
import { makePgService } from "postgraphile/adaptors/pg";
import { flightAdaptor } from "./flights/adaptor.ts";
import { whyNotFly } from "./flights/check.ts";

/**
 * How PostGraphile reaches the database: in one message for each statement, or, when that is not wanted or doesn't
 * work with this driver, in the library's way.
 */
export async function openPgService(
  pool: Pool,
  { fastReads, logger }: { fastReads: boolean; logger: Logger },
): Promise<GraphileConfig.PgServiceConfiguration> {
  const service = makePgService({ pool, pubsub: false });
  if (!fastReads) return service;
  const trouble = await whyNotFly(pool);
  if (trouble === null) return { ...service, adaptor: flightAdaptor(pool) };
  logger.warn({ trouble }, "statements are sent in the slower way: the driver is not as expected");
  return service;
}
