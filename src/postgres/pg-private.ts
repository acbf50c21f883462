// Access to undocumented parts of `pg`, as of 8.23.1. Nothing else in src uses the driver's internals.
// test/postgres/pg-private.test.ts fails when an upgrade changes them. docs/internals/upstream.md has alternatives.
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { ClientBase } from "pg";
import pg from "pg";

/** The messages that `pg` can send to Postgres. Its public types describe them differently. */
export interface Wire {
  stream: { cork(): void; uncork(): void };
  parse(message: { name: string; text: string }): void;
  bind(message: {
    statement: string;
    values: readonly unknown[];
    valueMapper(value: unknown): unknown;
  }): void;
  describe(message: { type: "P"; name: string }): void;
  execute(message: { portal: string }): void;
  close(message: { type: "S"; name: string }): void;
  sync(): void;
}

/** The callbacks by which `pg` passes responses to a query. */
export interface WireListener {
  handleRowDescription(message: { fields: readonly WireField[] }): void;
  handleDataRow(message: { fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: { text: string }): void;
  handleError(error: Error): void;
  handleReadyForQuery(): void;
}

export interface WireField {
  name: string;
  dataTypeID: number;
  format: "text" | "binary";
}

/** The backend process of a connection, with its address. The numbers are null until it is connected. */
export interface Backend {
  host: string;
  port: number;
  processID: number | null;
  secretKey: number | null;
}

interface Internals extends Backend {
  connection: EventEmitter & { stream: Socket };
  connectionParameters: { query_timeout: number | false | undefined };
}

const toInternals = (client: ClientBase): Internals => client as unknown as Internals;

const { utils } = pg as unknown as { utils: { prepareValue(value: unknown): unknown } };

/** Converts a value to the form in which it is sent: text, or null. */
export const prepareValue = (value: unknown): unknown =>
  typeof value === "string" ? value : utils.prepareValue(value);

/** Returns a parser for the values of a column. */
export function getParser(client: ClientBase, { dataTypeID, format }: WireField): (text: string) => unknown {
  return (client as pg.Client).getTypeParser(dataTypeID, format) as (text: string) => unknown;
}

export const getBackend = (client: ClientBase): Backend => toInternals(client);

/** Returns the socket of a connection. */
export const getSocket = (client: ClientBase): Socket => toInternals(client).connection.stream;

/** Listens to messages of Postgres: that a statement or a whole response is complete. @returns a function that stops listening */
export function onMessage(
  client: ClientBase,
  message: "commandComplete" | "readyForQuery",
  listener: () => void,
): () => void {
  const { connection } = toInternals(client);
  connection.on(message, listener);
  return () => void connection.off(message, listener);
}

/** Returns the `query_timeout` of a connection in milliseconds; 0 for none. */
export const queryTimeoutMs = (client: ClientBase): number =>
  toInternals(client).connectionParameters.query_timeout || 0;

/** Runs an action on a connection, without `pg` creating timers. */
export function withoutTimers(client: ClientBase, action: () => void): void {
  const { connectionParameters } = toInternals(client);
  const { query_timeout: ms } = connectionParameters;
  connectionParameters.query_timeout = 0;
  try {
    action();
  } finally {
    connectionParameters.query_timeout = ms;
  }
}
