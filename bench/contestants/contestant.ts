import type { ContestantRequest, Parameters, ReadName } from "../queries/reads.ts";

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
  /** Whether it connects as the owner of all tables, not with the role that services log in as. */
  isOwner?: boolean;
  /** Queries that it can't answer. */
  lacks?: readonly ReadName[];
  /** Differences to the others. */
  remarks?: string[];
  /**
   * Finds out how to ask it, perhaps by asking it.
   *
   * @param ownerUrl the database, for facts that it can't provide
   */
  speak(ask: Ask, ownerUrl: string): Promise<Speaker>;
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
