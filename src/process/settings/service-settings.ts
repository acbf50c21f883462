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

/** Settings of the service as a whole. */
export const service = {
  production: setting(
    "NODE_ENV",
    convert(oneOf("development", "production", "test"), isProduction),
    "development",
    {
      doc: "The environment. In `production` there is no explorer, and only `npx erp start --empty` or `--demo` sets up a new DATA_DIRECTORY.",
    },
  ),
  host: setting("HOST", text("an address or name of this machine"), "127.0.0.1", {
    doc: "The address on which the service listens.",
  }),
  port: setting("PORT", wholeNumber(0, 65_535), 4000, {
    doc: "The port on which the service listens. 0 chooses a free one.",
  }),
  metricsPort: optional("METRICS_PORT", wholeNumber(0, 65_535), {
    example: "9100",
    doc: "The port that serves metrics for Prometheus, at `/metrics`. It need not be open to clients. Without it there are no metrics.",
  }),
  publicUrl: optional("PUBLIC_URL", url(/^https?$/, "a URL that begins with `http:` or `https:`"), {
    example: "https://api.example.com",
    secret: true,
    doc: "The address that clients use, if a proxy is in front of the service. It appears in the start's output, the administration and the OAuth metadata. Without it, the OAuth metadata is served only for names of this machine. With `https:`, cookies of the administration require HTTPS.",
  }),
  corsOrigins: setting("CORS_ORIGINS", origins, "", {
    example: "https://shop.example",
    doc: "Origins of web pages that may use the API in browsers (CORS), separated by commas; `*` allows all. Without it browsers block pages of other origins. A page needs an access token like any client, and every user of the page can read it.",
  }),
  runAs: optional("RUN_AS", text("the name of a user"), {
    example: "erp",
    doc: "The user who runs the service after root has started it and its ports are open. The default is the user of the service's own Postgres or, with DATABASE_URL, `nobody`. `root` keeps root.",
  }),
  tokenSigningKeys: setting("TOKEN_SIGNING_KEY", secrets(isSigningKey, "at least 32 characters"), "", {
    secret: true,
    doc: "The secret that signs access tokens. Without it the first start generates one and stores it in the database. If there are several, the first signs and all are accepted.",
  }),
  secretsKeys: setting(
    "SECRETS_KEY",
    secrets(isSecretsKey, "32 bytes in base64, as `openssl rand -base64 32` writes them"),
    "",
    {
      secret: true,
      doc: "The key that encrypts signing keys and webhook secrets in the database. Without it they are stored in plain text. Use the same key for every process, and keep it apart from the database and its backups. If there are several, the first encrypts and all decrypt. docs/guides/keys.md describes how to change it.",
    },
  ),
  explorer: optional("EXPLORER", flag, {
    example: "true",
    doc: "Whether to serve the explorer. By default it is served in development only.",
  }),
  jobConcurrency: setting("WORKER_CONCURRENCY", wholeNumber(0, 100), 2, {
    doc: "The number of background jobs that this process runs at a time. It uses up to two more connections to Postgres than that. 0 leaves jobs to other processes. With MERCHANTS, each merchant has one at a time.",
  }),
  exchangeRatesFrom: optional("EXCHANGE_RATES_FROM", text("a file, or a URL"), {
    example: "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml",
    secret: true,
    doc: "The source of exchange rates: a file or an `https:` address, in the European Central Bank's format. The example is the bank's address. The service imports the rates every day at 16:20 UTC. Without this setting nothing is imported automatically; `npx erp rates` imports once.",
  }),
  trustProxy: optional("TRUST_PROXY", convert(text("a number, or addresses separated by commas"), proxies), {
    example: "1",
    doc: "The trusted proxies: their number, or their addresses, as for Express. Their `X-Forwarded-For` gives the client's address, and their `X-Forwarded-Proto` whether it uses HTTPS. Without it these headers are ignored.",
  }),
  stopDelayMs: setting("STOP_DELAY", seconds(0), 1, {
    doc: "How long the service continues after SIGTERM while `/readyz` already returns 503. The load balancer needs this time to send requests elsewhere. Requests that arrive by then are still served.",
  }),
  logRequests: setting("LOG_REQUESTS", flag, false, {
    doc: "Whether to log a line for each request to the GraphQL endpoint. It has the operation's id and name, version, API credential, points, status, code, and milliseconds by stage (docs/guides/monitoring.md).",
  }),
  slowMs: setting("LOG_SLOW_AFTER", seconds(0), 1, {
    doc: "The duration from which a request is always logged, with its slowest statement: SQL with parameters instead of values.",
  }),
  logLevel: setting(
    "LOG_LEVEL",
    oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
    "info",
    {
      doc: "The lowest level of log messages that is written.",
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
