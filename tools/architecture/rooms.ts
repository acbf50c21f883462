/** A room: a folder of `src`, or `plugins`. */
export interface Room {
  name: string;
  /** Its content, for the picture in docs/explanation/architecture.md. */
  holds: string;
}

/** The rooms, from the top floor down. A room imports only rooms on lower floors. */
export const floors: readonly (readonly Room[])[] = [
  [{ name: "commands", holds: "what is run at the terminal" }],
  [{ name: "merchants", holds: "many merchants, each with a database of its own" }],
  [
    {
      name: "process",
      holds: "the service for one merchant; one process and several: settings, start, stop",
    },
  ],
  [{ name: "http", holds: "the order of the middlewares, and each of them" }],
  [{ name: "documentation", holds: "guides and reference, as pages" }],
  [{ name: "labels", holds: "shipping labels, which carriers make" }],
  [
    { name: "check", holds: "what a migration would break, and for whom" },
    { name: "administration", holds: "pages of administrators" },
    { name: "webhooks", holds: "delivery of events" },
    { name: "live", holds: "answers that are sent as things happen" },
    { name: "bulk", holds: "files of many rows, in and out" },
    { name: "pdf", holds: "documents of the merchant, as PDF" },
    { name: "jobs", holds: "background work" },
  ],
  [{ name: "versions", holds: "versions of the API, served and released" }],
  [
    { name: "auth", holds: "credentials, tokens, sessions, merchant's plan, rate limits" },
    { name: "plugins", holds: "plugins of PostGraphile" },
  ],
  [{ name: "mutations", holds: "from a mutation to its booking, and to its answer" }],
  [
    { name: "reads", holds: "from an operation to one SQL statement" },
    { name: "secrets", holds: "what the database keeps encrypted" },
    { name: "tracing", holds: "what OpenTelemetry is told" },
  ],
  [
    { name: "graphql", holds: "GraphQL documents, operations, costs, scopes" },
    { name: "migrations", holds: "migrations, roles, and the opening of a database" },
    { name: "replicas", holds: "reads from standbys" },
  ],
  [
    { name: "cluster", holds: "the Postgres that comes with it: start, stop, backups" },
    { name: "plans", holds: "how Postgres runs statements, and indexes that lack" },
  ],
  [{ name: "postgres", holds: "the driver: pools, pipelined queries, listening" }],
  [
    { name: "errors", holds: "codes, and what becomes of failures" },
    { name: "html", holds: "what all pages in a browser share" },
    { name: "codes", holds: "scanned codes of GS1" },
    { name: "lib", holds: "waiting, turns, time limits" },
  ],
];

export const rooms: readonly Room[] = floors.flat();

/** Returns the folder of a room. */
export const folderOf = ({ name }: Room): string => (name === "plugins" ? name : `src/${name}`);
