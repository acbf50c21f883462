import {
  convert,
  flag,
  oneOf,
  optional,
  origins,
  seconds,
  secrets,
  setting,
  text,
  url,
  wholeNumber,
} from "./setting.ts";

/** Where and how a process serves. */
export const service = {
  production: setting(
    "NODE_ENV",
    convert(oneOf("development", "production", "test"), isProduction),
    "development",
    {
      doc: "In production there is no explorer, and a new DATA_DIRECTORY gets a shop only by `npx erp start --empty` or `--demo`.",
    },
  ),
  host: setting("HOST", text("an address of this machine, or its name"), "127.0.0.1", {
    doc: "The address on which the service listens.",
  }),
  port: setting("PORT", wholeNumber(0, 65_535), 4000, {
    doc: "The port on which the service listens. 0 takes any free one.",
  }),
  metricsPort: optional("METRICS_PORT", wholeNumber(0, 65_535), {
    example: "9100",
    doc: "A port that serves metrics for Prometheus, at `/metrics`. It need not be open to clients. Without it there are no metrics.",
  }),
  publicUrl: optional("PUBLIC_URL", url(/^https?$/, "a URL that begins with `http:` or `https:`"), {
    example: "https://api.example.com",
    secret: true,
    doc: "The address that clients use, if a proxy is in front of the service. The start prints it, the administration shows it, and the metadata for OAuth clients name it; without it these answer for names of this machine only. With `https:` here, cookies of the administration are for HTTPS only.",
  }),
  corsOrigins: setting("CORS_ORIGINS", origins, "", {
    example: "https://shop.example",
    doc: "Origins of pages in browsers that may use the API, separated by commas; `*` for all. Without it browsers let no page of another origin do that. A page needs a token like any client, and every user of the page can read that token.",
  }),
  runAs: optional("RUN_AS", text("the name of a user"), {
    example: "erp",
    doc: "The user as whom the service continues when root has started it and its ports are open. By default the user who runs the service's own Postgres or, with DATABASE_URL, `nobody`. `root` keeps root.",
  }),
  tokenSigningKeys: setting("TOKEN_SIGNING_KEY", secrets(isSigningKey, "at least 32 characters"), "", {
    secret: true,
    doc: "The secret that signs access tokens. Without it one is made at the first start and stored in the database. Of several, the first signs and all are accepted.",
  }),
  secretsKeys: setting(
    "SECRETS_KEY",
    secrets(isSecretsKey, "32 bytes in base64, as `openssl rand -base64 32` writes them"),
    "",
    {
      secret: true,
      doc: "The key that encrypts signing keys and webhook secrets in the database. Without it they are stored in plain text. Use the same for every process, and keep it apart from the database and its backups. Of several, the first encrypts and all decrypt. docs/guides/keys.md says how to change it.",
    },
  ),
  explorer: optional("EXPLORER", flag, {
    example: "true",
    doc: "Whether to serve the explorer. By default in development only.",
  }),
  jobConcurrency: setting("WORKER_CONCURRENCY", wholeNumber(0, 100), 2, {
    doc: "Jobs of background work that this process runs at a time. It uses up to two more connections to Postgres than that. 0 leaves background work to other processes. With MERCHANTS, one of each merchant.",
  }),
  exchangeRatesFrom: optional("EXCHANGE_RATES_FROM", text("a file, or a URL"), {
    example: "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml",
    secret: true,
    doc: "The source of exchange rates, imported every day at 16:20 UTC: a file or an `https:` address, in the form of the European Central Bank, whose address the example is. Without it nothing is imported; `npx erp rates` imports by hand.",
  }),
  trustProxy: optional("TRUST_PROXY", convert(text("a number, or addresses separated by commas"), proxies), {
    example: "1",
    doc: "Proxies whose `X-Forwarded-For` tells the client's address, and whose `X-Forwarded-Proto` whether it uses HTTPS: their number, or their addresses, as for Express. Without it these headers are ignored.",
  }),
  stopDelayMs: setting("STOP_DELAY", seconds(0), 1, {
    doc: "How long the service continues after SIGTERM while `/readyz` already answers 503: the time that the load balancer needs to send requests elsewhere. Requests that arrive by then are answered in any case.",
  }),
  logRequests: setting("LOG_REQUESTS", flag, false, {
    doc: "Whether to log a line for each request to the GraphQL endpoint: id and name of its operation, version, token, points, status, code, and milliseconds by stage. docs/guides/monitoring.md says more.",
  }),
  slowMs: setting("LOG_SLOW_AFTER", seconds(0), 1, {
    doc: "How long a request takes that is logged in any case, with its slowest statement: SQL with parameters instead of values.",
  }),
  logLevel: setting(
    "LOG_LEVEL",
    oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
    "info",
    {
      doc: "The lowest level that is logged.",
    },
  ),
};

function isSigningKey(given: string): boolean {
  return given.length >= 32;
}

function isSecretsKey(given: string): boolean {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(given);
}

function isProduction(environment: string): boolean {
  return environment === "production";
}

function proxies(given: string): string | number {
  return /^\d+$/.test(given) ? Number(given) : given;
}
