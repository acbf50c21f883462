import type { PreparedRequest } from "../measure/load.ts";
import type { ContestantRequest, Parameters, ReadName } from "../queries/reads.ts";
import type { WriteCall, WriteName } from "../queries/writes.ts";

/** Sends one request and returns the response body, which may contain errors. */
export type Ask = (asked: ContestantRequest) => Promise<unknown>;

/** Makes the requests for a contestant, and reads its responses. */
export interface Adapter {
  ask(query: ReadName, parameters: Parameters): ContestantRequest | Promise<ContestantRequest>;
  /** Converts its response to the form of the service's `data`. */
  read(query: ReadName, body: unknown): unknown;
}

/** A server that answers the queries, in its own process. */
export interface Contestant {
  name: string;
  /** A description for the reader of the results. */
  title: string;
  program: URL;
  /** Folder with its own dependencies. */
  folder?: URL;
  environment?: Record<string, string>;
  /** Options of Node. */
  execArgv?: string[];
  /**
   * The database that it connects to. By default, it is the measured database with the login role. A contestant may need the
   * owner instead, or its own database on the same server, which it fills with the measured products.
   */
  database?: "as owner" | "its own";
  answers: readonly (ReadName | WriteName)[];
  /** Differences to other contestants. */
  remarks?: string[];
  /**
   * Prepares its requests, perhaps by sending some.
   *
   * @param ownerUrl the database, for facts that the contestant can't provide
   */
  makeAdapter(ask: Ask, ownerUrl: string): Promise<Adapter>;
  /** Makes its request for a mutation, if it supports mutations. */
  write?(call: WriteCall): PreparedRequest;
}

interface GraphqlAnswer {
  data?: unknown;
  errors?: unknown[];
}

/** Returns the data of a response without errors, otherwise undefined. */
export function dataOf(body: unknown): unknown {
  const { data, errors } = body as GraphqlAnswer;
  if (errors !== undefined) throw new Error(`It answered errors: ${JSON.stringify(errors).slice(0, 500)}`);
  return data;
}
