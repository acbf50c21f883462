import type { Request, Response } from "express";
import type { PoolClient } from "pg";
import { requireFound } from "./problem.ts";

/** The administrator who views a page. */
export interface VisitingAdministrator {
  id: string;
  name: string;
}

/** The menu: sections of the administration in groups. Paths are below /admin. */
export type Menu = readonly { title: string; sections: readonly { title: string; path: string }[] }[];

/** A request to the administration. */
export interface Visit {
  request: Request;
  response: Response;
  /** Whether the browser speaks HTTPS, perhaps to a proxy in front of us. */
  isSecure: boolean;
  /** Null before log-in. */
  visitor: VisitingAdministrator | null;
  /** Whether the browser sent a session cookie. The session may have ended. */
  hadSession: boolean;
  /** The CSRF token of this browser's forms. */
  csrfToken: string;
  menu: Menu;
  /** Path of the page below /admin. */
  path: string;
  /** Address of the client. */
  address: string;
  /** Address of the service, such as https://api.example.com. */
  origin: string;
  /**
   * Calls functions of the schema administration in a transaction, as the administration's role. The database gets the hash of
   * the session's token, so that it can check the session itself, and the client's address for the audit log.
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

/** Returns the visit that belongs to a response. */
export function getVisit(response: Response): Visit {
  return response.locals.visit!;
}

/** Returns the visitor of a page that requires a log-in. */
export function getVisitor(visit: Visit): VisitingAdministrator {
  return visit.visitor!;
}

/** Reads the rows that a function of the schema administration returns. */
export async function callForRows<Row extends object>(
  client: PoolClient,
  call: string,
  ...values: unknown[]
): Promise<Row[]> {
  return (await client.query<Row>(`select * from administration.${call}`, values)).rows;
}

/** Reads the row that a function of the schema administration returns. @throws {Problem} if there is none */
export async function callForRow<Row extends object>(
  client: PoolClient,
  call: string,
  ...values: unknown[]
): Promise<Row> {
  return requireFound((await callForRows<Row>(client, call, ...values))[0]);
}

/** Reads the value that a function of the schema administration returns. */
export async function callForValue<Value>(
  client: PoolClient,
  call: string,
  ...values: unknown[]
): Promise<Value> {
  const { rows } = await client.query<{ value: Value }>(`select administration.${call} as value`, values);
  return rows[0]!.value;
}

/** Calls a function of the schema administration in a transaction of its own. */
export const callInTransaction = <Value>(visit: Visit, call: string, ...values: unknown[]): Promise<Value> =>
  visit.run((client) => callForValue<Value>(client, call, ...values));
