import type { BenchDatabase } from "../data/database.ts";
import type { Child } from "../measure/child.ts";
import { startChild } from "../measure/child.ts";
import type { Contestant } from "./contestant.ts";

/** The settings of the service's connections (src/postgres/pool.ts), for the others. */
const session = "-c timezone=UTC -c statement_timeout=5s -c jit=off";

export interface StartOptions {
  database: BenchDatabase;
  /** The key that signs access tokens. */
  signingKey: string;
}

/** Starts a contestant on a database; each gets the same number of connections. */
export async function startContestant(
  { name, program, environment = {}, execArgv = [], database: kind }: Contestant,
  { database, signingKey }: StartOptions,
): Promise<Child> {
  const url =
    kind === "its own"
      ? await database.beside(name)
      : kind === "as owner"
        ? database.ownerUrl
        : database.loginUrl;
  return startChild({
    program,
    execArgv,
    environment: {
      NODE_ENV: "production",
      DATABASE_URL: url,
      DATABASE_URL_WITH_SETTINGS: withSettings(url),
      MEASURED_DATABASE_URL: database.ownerUrl,
      DATABASE_POOL_SIZE: "10",
      TOKEN_SIGNING_KEY: signingKey,
      HOST: "127.0.0.1",
      PORT: "0",
      ...environment,
    },
  });
}

function withSettings(url: string): string {
  const other = new URL(url);
  const options = [other.searchParams.get("options"), session].filter(Boolean).join(" ");
  // Not by searchParams, which write spaces as +
  other.search = `?options=${encodeURIComponent(options)}`;
  return other.href;
}
