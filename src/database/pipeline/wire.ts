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

/** The callbacks by which `pg` passes answers to a query. */
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

const { utils } = pg as unknown as { utils: { prepareValue(value: unknown): unknown } };

/** The form in which a value is sent: text, or null. */
export const prepareValue = (value: unknown): unknown =>
  typeof value === "string" ? value : utils.prepareValue(value);

/** A parser for the values of a column. */
export function parserOf(client: ClientBase, { dataTypeID, format }: WireField): (text: string) => unknown {
  return (client as pg.Client).getTypeParser(dataTypeID, format) as (text: string) => unknown;
}
