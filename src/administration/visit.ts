import { isIP } from "node:net";
import type { Request, Response } from "express";
import type { Pool, PoolClient } from "pg";
import { asRole } from "../database/as-role.ts";
import type { Navigation } from "./section.ts";

/** Who looks at a page. */
export interface Visitor {
  id: string;
  name: string;
}

/** A request to the administration. */
export interface Visit {
  /** Null before log-in. */
  visitor: Visitor | null;
  /** What every form of this browser sends along. */
  csrfToken: string;
  navigation: Navigation;
  /** Path of the page below /admin. */
  path: string;
  /** Where the service is, such as https://api.example.com. */
  origin: string;
  /** Runs functions of the schema administration, in a transaction that belongs to the session. */
  run<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
}

declare global {
  namespace Express {
    interface Locals {
      /** Set by administration/session.ts, like the next. */
      visit?: Visit;
      /** Whether the browser has the cookie of a session that has ended. */
      hadSession?: boolean;
    }
  }
}

/** The visit that a request belongs to. */
export function visitOf(response: Response): Visit {
  return response.locals.visit!;
}

/** Who looks at the page, where only those come who have logged in. */
export function visitorOf(response: Response): Visitor {
  return visitOf(response).visitor!;
}

/**
 * Runs statements in the role of the administration. The database learns of the session by its hash, so that it can
 * look for itself whether that is alive, and of the address for the audit.
 */
export function asAdministration<T>(
  pool: Pool,
  { sessionHash, address }: { sessionHash?: Buffer | undefined; address: string },
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return asRole(pool, "service_administration", async (client) => {
    await client.query(
      "select set_config('service.session', $1, true), set_config('service.address', $2, true)",
      [sessionHash?.toString("hex") ?? "", address],
    );
    return work(client);
  });
}

/** The address that a request came from. */
export function addressOf(request: Request): string {
  // IPv4 as sockets for both kinds have it; and what a proxy says may be anything
  const address = (request.ip ?? "").replace(/^::ffff:/, "").replace(/%.*$/, "");
  return isIP(address) === 0 ? "0.0.0.0" : address;
}
