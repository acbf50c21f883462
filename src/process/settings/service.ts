import {
  convert,
  flag,
  oneOf,
  optional,
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
      doc: "In production there is no explorer.",
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
    doc: "A port on which Prometheus finds figures, at `/metrics`. It need not be open to clients. Without it there are no figures.",
  }),
  publicUrl: optional("PUBLIC_URL", url(/^https?$/, "a URL that begins with `http:` or `https:`"), {
    example: "https://api.example.com",
    secret: true,
    doc: "Where clients reach the service when a proxy stands before it: for addresses that the start prints and the administration shows. With `https:` here, cookies of the administration are for HTTPS only.",
  }),
  runAs: optional("RUN_AS", text("the name of a user"), {
    example: "erp",
    doc: "The user who serves when root starts the service: it opens its ports and then is root no longer. Without it that is the user who runs the service's own Postgres, or nobody where DATABASE_URL leads to another. `root` keeps root.",
  }),
  tokenSigningKeys: setting("TOKEN_SIGNING_KEY", secrets(isSigningKey, "at least 32 characters"), "", {
    secret: true,
    doc: "The secret that signs access tokens. Without it one is made at the first start and kept in the database. Of several, the first signs and all are accepted.",
  }),
  secretsKeys: setting(
    "SECRETS_KEY",
    secrets(isSecretsKey, "32 bytes in base64, as `openssl rand -base64 32` writes them"),
    "",
    {
      secret: true,
      doc: "The key by which signing keys and secrets of webhooks are encrypted in the database. Without it they lie there plain. It is the same for every process, and kept apart from the database and its backups. Of several, the first encrypts and all decrypt. docs/operating.md says how it is changed.",
    },
  ),
  explorer: optional("EXPLORER", flag, {
    example: "true",
    doc: "Whether the explorer is served. Unless set, in development only.",
  }),
  jobConcurrency: setting("WORKER_CONCURRENCY", wholeNumber(0, 100), 2, {
    doc: "Jobs of background work that this process does at a time. It holds up to two connections to Postgres more than that. 0 leaves background work to other processes.",
  }),
  exchangeRatesFrom: optional("EXCHANGE_RATES_FROM", text("a file, or a URL"), {
    example: "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml",
    secret: true,
    doc: "Where exchange rates are imported from, every day at 16:20 UTC: a file or an `https:` address, in the form of the European Central Bank, whose own address this is. Without it nothing is fetched; `npm run rates` imports by hand.",
  }),
  trustProxy: optional("TRUST_PROXY", convert(text("a number, or addresses separated by commas"), proxies), {
    example: "1",
    doc: "Which proxies tell the address of the client by `X-Forwarded-For`, and by `X-Forwarded-Proto` whether it speaks HTTPS: how many there are, or their addresses, as Express reads it. Without it the headers are not believed.",
  }),
  stopDelayMs: setting("STOP_DELAY", seconds(0), 1, {
    doc: "How long the service goes on after SIGTERM while `/readyz` answers 503 already: as long as the balancer in front needs to see that and to send requests elsewhere. Requests that have come by then are answered in any case.",
  }),
  logLevel: setting(
    "LOG_LEVEL",
    oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
    "info",
    {
      doc: "From which level on lines are logged.",
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
