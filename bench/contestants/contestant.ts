import type { PreparedRequest } from "../measure/load.ts";
import type { ContestantRequest, Parameters, ReadName } from "../queries/reads.ts";
import type { WriteCall, WriteName } from "../queries/writes.ts";

/** Sends one request and returns the body of the answer, which may contain errors. */
export type Ask = (asked: ContestantRequest) => Promise<unknown>;

/** How to ask a running contestant, and how to read its answers. */
export interface Speaker {
  ask(query: ReadName, parameters: Parameters): ContestantRequest | Promise<ContestantRequest>;
  /** Its answer in the form of the service's `data`. */
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
   * The database that it connects to: the measured one, with the role that services log in as, unless it says that it
   * needs its owner, or has one of its own on the same server, which it fills with the measured products.
   */
  database?: "as owner" | "its own";
  answers: readonly (ReadName | WriteName)[];
  /** Differences to the others. */
  remarks?: string[];
  /**
   * Finds out how to ask it, perhaps by asking it.
   *
   * @param ownerUrl the database, for facts that it can't provide
   */
  speak(ask: Ask, ownerUrl: string): Promise<Speaker>;
  /** A mutation in its form. One that answers none has none. */
  write?(call: WriteCall): PreparedRequest;
}

interface GraphqlAnswer {
  data?: unknown;
  errors?: unknown[];
}

/** The data of an answer without errors, or nothing. */
export function dataOf(body: unknown): unknown {
  const { data, errors } = body as GraphqlAnswer;
  if (errors !== undefined) throw new Error(`It answered errors: ${JSON.stringify(errors).slice(0, 500)}`);
  return data;
}
