import type { Asked, Parameters, ReadName } from "../queries/reads.ts";

/** Sends one request and gives the body of the answer, which may hold errors. */
export type Ask = (asked: Asked) => Promise<unknown>;

/** How a running contestant is asked, and how its answers are read. */
export interface Speaker {
  ask(query: ReadName, parameters: Parameters): Asked | Promise<Asked>;
  /** What it answered, in the form of the service's `data`. */
  read(query: ReadName, body: unknown): unknown;
}

/** Something that answers the queries, in a process of its own. */
export interface Contestant {
  name: string;
  /** What it is, for the reader of the results. */
  title: string;
  program: URL;
  /** Folder with dependencies of its own. */
  folder?: URL;
  environment?: Record<string, string>;
  /** Options of Node. */
  execArgv?: string[];
  /** It connects as the owner of all tables, not as the role that services log in with. */
  isOwner?: boolean;
  /** Queries that it has no way to ask. */
  lacks?: readonly ReadName[];
  /** What is not quite the same as elsewhere. */
  remarks?: string[];
  /**
   * Finds out how to ask it. It may ask it for that.
   *
   * @param ownerUrl the database, for what it can't say itself
   */
  speak(ask: Ask, ownerUrl: string): Promise<Speaker>;
}

interface GraphqlAnswer {
  data?: unknown;
  errors?: unknown[];
}

/** The data of an answer; without errors, or nothing. */
export function dataOf(body: unknown): unknown {
  const { data, errors } = body as GraphqlAnswer;
  if (errors !== undefined) throw new Error(`It answered errors: ${JSON.stringify(errors).slice(0, 500)}`);
  return data;
}
