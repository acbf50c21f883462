export type Parser = typeof import("libpg-query");

let loading: Promise<Parser> | undefined;

/** Loads Postgres' own parser when it is first needed. */
export const loadParser = (): Promise<Parser> => (loading ??= load());

async function load(): Promise<Parser> {
  const parser = await import("libpg-query");
  await parser.loadModule();
  return parser;
}
