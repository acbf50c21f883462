import type { Express } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";

/** Settings that the stations need. The service's settings (src/settings.ts) have them, among others. */
export interface AppSettings {
  /** Secret of at least 32 characters that signs access tokens. Without it a key is made and kept in the database. */
  tokenSigningKey?: string | undefined;
  /** Whether to serve the explorer. Meant for development. */
  explorer: boolean;
}

export interface AppOptions {
  settings: AppSettings;
  /** Connections of the login role, see db/roles.sql. Stays open when the app closes. */
  pool: Pool;
  logger: Logger;
  /** What time it is, in milliseconds since 1970. For tests. */
  now?: () => number;
}

/** The service's HTTP side. */
export interface App {
  /** Answers requests: `http.createServer(app.express)`. */
  express: Express;
  /** Builds every version's GraphQL schema anew from the database, as after a migration. */
  reload(): Promise<void>;
  /** Ends what the app opened: not the pool, not the HTTP server. */
  close(): Promise<void>;
}

/** Puts the stations of a request in order and opens what they need. */
export declare function createApp(options: AppOptions): Promise<App>;
