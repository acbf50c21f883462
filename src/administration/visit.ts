import type { Request, Response } from "express";
import type { PoolClient } from "pg";
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
  /** Whether the browser speaks HTTPS, perhaps to a proxy in front of us. */
  isSecure: boolean;
  /** Null before log-in. */
  visitor: VisitingAdministrator | null;
  /** Whether the browser has the cookie of a session, which may have ended. */
  hadSession: boolean;
  /** The token in every form of this browser. */
  csrfToken: string;
  menu: Menu;
  /** Path of the page below /admin. */
  path: string;
  /** Address of the client. */
  address: string;
  /** Address of the service, such as https://api.example.com. */
  origin: string;
  /**
   * Calls functions of the schema administration in a transaction, in the role of the administration. The database gets the hash
   * of the session's token, so that it can check by itself whether the session is alive, and the address for the audit log.
   */
  run<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
}

declare global {
  namespace Express {
    interface Locals {
      /** Set by administration/session.ts. */
      visit?: Visit;
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
