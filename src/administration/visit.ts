import { isIP } from "node:net";
import type { Request, Response } from "express";
import type { Pool, PoolClient } from "pg";
import { asRole } from "../postgres/as-role.ts";
import { found } from "./problem.ts";

/** The visitor of a page. */
export interface VisitingAdministrator {
  id: string;
  name: string;
}

/** Sections of the administration, in groups, as the menu shows them. Paths are below /admin. */
export type Menu = readonly { title: string; sections: readonly { title: string; path: string }[] }[];

/** A request to the administration. */
export interface Visit {
  request: Request;
  response: Response;
  /** Null before log-in. */
  visitor: VisitingAdministrator | null;
  /** The token in every form of this browser. */
  csrfToken: string;
  menu: Menu;
  /** Path of the page below /admin. */
  path: string;
  /** Address of the service, such as https://api.example.com. */
  origin: string;
  /** Calls functions of the schema administration, in a transaction with the session. */
  run<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
}

declare global {
  namespace Express {
    interface Locals {
      /** Set by administration/session.ts, like the next one. */
      visit?: Visit;
      /** Whether the browser has the cookie of an ended session. */
      hadSession?: boolean;
    }
  }
}

/** The visit that a request belongs to. */
export function visitOf(response: Response): Visit {
  return response.locals.visit!;
}

/** The visitor of a page that requires a log-in. */
export function visitorOf(visit: Visit): VisitingAdministrator {
  return visit.visitor!;
}

/**
 * Runs statements in the role of the administration. The database gets the hash of the session's token, so that it can
 * check by itself whether the session is alive, and the address for the audit log.
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

/** The rows that a function of the schema administration returns. */
export async function rowsOf<Row extends object>(
  client: PoolClient,
  call: string,
  ...values: unknown[]
): Promise<Row[]> {
  return (await client.query<Row>(`select * from administration.${call}`, values)).rows;
}

/** The row that a function of the schema administration returns. @throws {Problem} when there is none */
export async function rowOf<Row extends object>(
  client: PoolClient,
  call: string,
  ...values: unknown[]
): Promise<Row> {
  return found((await rowsOf<Row>(client, call, ...values))[0]);
}

/** The value that a function of the schema administration returns. */
export async function valueOf<Value>(client: PoolClient, call: string, ...values: unknown[]): Promise<Value> {
  const { rows } = await client.query<{ value: Value }>(`select administration.${call} as value`, values);
  return rows[0]!.value;
}

/** Calls a function of the schema administration in a transaction of its own. */
export const perform = <Value>(visit: Visit, call: string, ...values: unknown[]): Promise<Value> =>
  visit.run((client) => valueOf<Value>(client, call, ...values));

/** The address of the request's client. */
export function addressOf(request: Request): string {
  // Sockets for both kinds write IPv4 addresses as IPv6; and a proxy may send anything
  const address = (request.ip ?? "").replace(/^::ffff:/, "").replace(/%.*$/, "");
  return isIP(address) === 0 ? "0.0.0.0" : address;
}
