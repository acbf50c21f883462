import type { Pool } from "pg";
import { isConnectionBroken } from "../broken.ts";
import { Flight } from "./flight.ts";
import type { Statement } from "./flight.ts";
import type { SettingsStatement } from "./settings.ts";

/** Reads the one text that a statement answers, in a transaction of its own with settings. */
export type ReadText = (settings: SettingsStatement, statement: Statement) => Promise<string | null>;

/** The shortest way from a pool to a text: without a promise for each step. */
export function textReader(pool: Pool): ReadText {
  return (settings, { text, name, values }) =>
    new Promise((resolve, reject) => {
      pool.connect((connectError, client, release) => {
        if (!client) return reject(connectError!);
        const statement = { text, name, values, arrayMode: true };
        const flight = new Flight(client, settings, statement, (error, result) => {
          release(error !== null && isConnectionBroken(error));
          if (error) return reject(error);
          const [[value]] = result!.rows as [[string | null]];
          resolve(value);
        });
        client.query(flight);
      });
    });
}
