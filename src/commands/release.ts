import "../process/graphile-env.ts";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { makePgService } from "postgraphile/adaptors/pg";
import { withClient } from "../database/client.ts";
import { startCluster } from "../database/cluster/cluster.ts";
import { commitText } from "../database/migrations/commit-migration.ts";
import { hasCurrentMigration } from "../database/migrations/migrations.ts";
import { setUpDatabase } from "../database/open.ts";
import { readSettings } from "../process/settings.ts";
import { UserError } from "../errors/user-error.ts";
import { printVersion } from "../versions/sdl.ts";
import { versionOf, versions } from "../versions/versions.ts";
import { atTheTerminal, say } from "./terminal.ts";

const usage = `Releases a version: freezes what \`unstable\` offers now under a name.

Usage: npm run release -- SLUG [--date YYYY-MM-DD]

  SLUG      2027-01 for a stable version, of January, April, July or October; 2027-02-unstable for a dated preview
  --date    the first day on which it is served; today if not given

It writes a committed migration, schema/SLUG.graphql, for a stable version schema/released/SLUG.graphql too, and a
line in src/versions/versions.json. Look at them, and commit.
`;

const stable = /^20\d\d-(01|04|07|10)$/;
const preview = /^20\d\d-(0[1-9]|1[0-2])-unstable$/;
const root = new URL("../../", import.meta.url);
const inRoot = (path: string) => new URL(path, root);

await atTheTerminal(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { date: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  const [slug] = positionals;
  if (values.help || slug === undefined || positionals.length > 1) {
    console.error(usage);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  await release(slug, values.date ?? new Date().toISOString().slice(0, 10));
});

async function release(slug: string, releasedOn: string): Promise<void> {
  await check(slug, releasedOn);
  const version = versionOf({ slug, releasedOn });
  say("Trying and committing the migration");
  const sdl = await onBlankDatabase(async (adminUrl) => {
    // Not through db/current, which `db:watch` would run on the developer's database
    const freeze = `select api_meta.freeze('api_unstable', '${version.schemaName}');\n`;
    await commitText(adminUrl, `release-${slug}`, freeze);
    const pgService = makePgService({ connectionString: adminUrl, pubsub: false });
    try {
      return await printVersion(version, pgService);
    } finally {
      await pgService.release?.();
    }
  });
  const printed = inRoot(`schema/${slug}.graphql`);
  await writeFile(printed, sdl);
  if (version.kind === "stable") {
    await mkdir(inRoot("schema/released/"), { recursive: true });
    await copyFile(printed, inRoot(`schema/released/${slug}.graphql`));
  }
  const list = inRoot("src/versions/versions.json");
  const known = JSON.parse(await readFile(list, "utf8")) as { slug: string }[];
  const unstableIndex = known.findIndex((other) => other.slug === "unstable");
  const lines = known.toSpliced(unstableIndex, 0, { slug, releasedOn } as { slug: string });
  await writeFile(list, `[\n${lines.map((line) => `  ${spaced(line)}`).join(",\n")}\n]\n`);
  say(`Released ${slug}, to be served from ${releasedOn} on.`);
}

async function check(slug: string, releasedOn: string): Promise<void> {
  if (!stable.test(slug) && !preview.test(slug))
    throw new UserError(`“${slug}” is no name of a version.\n\n${usage}`);
  if (versions.some((version) => version.slug === slug))
    throw new UserError(`There is a version ${slug} already.`);
  if (!/^\d{4}-\d\d-\d\d$/.test(releasedOn) || Number.isNaN(Date.parse(releasedOn)))
    throw new UserError(`“${releasedOn}” is no date such as 2027-01-15.`);
  if (stable.test(slug) && releasedOn.slice(0, 7) !== slug)
    throw new UserError(
      `A stable version is named for the month of its release: ${slug} can't be released on ${releasedOn}.`,
    );
  if (await hasCurrentMigration())
    throw new UserError(
      "There is a migration in db/current. Commit it first: a release is a migration of its own.",
    );
  const later = (await readdir(inRoot("schema/"))).includes(`${slug}.graphql`);
  if (later) throw new UserError(`schema/${slug}.graphql is there already.`);
}

/** Runs work on a database that is set up and otherwise empty, in a temporary Postgres. */
async function onBlankDatabase<T>(work: (adminUrl: string) => Promise<T>): Promise<T> {
  const { dataDirectory } = readSettings();
  const cluster = await startCluster({ directory: `${dataDirectory}/release` });
  try {
    const url = cluster.adminUrl("blank");
    await withClient(cluster.adminUrl("postgres"), async (client) => {
      await client.query("drop database if exists blank with (force)");
      await client.query("create database blank");
    });
    await setUpDatabase(url, {});
    return await work(url);
  } finally {
    await cluster.stop();
  }
}

function spaced(line: object): string {
  const entries = Object.entries(line).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  return `{ ${entries.join(", ")} }`;
}
