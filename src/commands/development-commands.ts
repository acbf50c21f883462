import { Option } from "@commander-js/extra-typings";
import { collect, examples } from "./program.ts";
import type { Program } from "./program.ts";
import { untilStopped } from "./terminal.ts";

const database = () => import("./database.ts");
const files = () => import("./generated-files.ts");
const releases = () => import("./release.ts");

type Group = Pick<Program, "command">;

export function addDevelopmentCommands(erp: Program): void {
  erp.commandsGroup("Database and API:");
  const db = erp
    .command("db")
    .description(
      "Sets up, migrates and explains the database. That of DATABASE_URL, as an administrator, or the service's own.",
    );
  addMigrations(db);
  addDatabaseTools(db);
  addReleases(erp);
  erp
    .command("schema")
    .description(
      `Writes the files that follow from the database. Tests compare them with what runs, so a change of the API shows as a
change of a file.

  schema/SLUG.graphql   the schema of each version, as clients see it
  docs/events           the JSON Schema of each topic of events
  docs/reference/data-model.md    the tables and their keys`,
    )
    .addHelpText(...examples("schema"))
    .action(async () => (await files()).writeSchemas());
  erp
    .command("docs")
    .description("Writes the documentation of /docs as files. For any web server.")
    .argument("[folder]", "where to", ".data/docs")
    .addHelpText(...examples("docs public"))
    .action(async (folder) => (await files()).writeDocumentation(folder));
  erp
    .command("settings")
    .description(
      "Writes .env.example and docs/reference/settings.md. From the declarations in src/process/settings/.",
    )
    .addHelpText(...examples("settings"))
    .action(async () => (await files()).writeSettings());
}

function addMigrations(db: Group): void {
  db.command("setup")
    .description(
      "Creates roles and grants, and runs migrations, in the database of DATABASE_URL. Can be repeated.",
    )
    .option("--new-password", "give the login roles a new password, even if they are there")
    .option(
      "--accept <rule>",
      "run migrations though the check refuses them by that rule; several times",
      collect,
    )
    .addHelpText(...examples("db setup", "db setup --accept index-blocks-writes"))
    .action(async (options) => (await database()).setUp(options));
  db.command("watch")
    .description("Runs the service, with db/current run again and the API rebuilt at every change.")
    .addHelpText(...examples("db watch"))
    .action(async () => {
      const { watch } = await import("./watch.ts");
      await untilStopped(watch);
    });
  db.command("check")
    .description(
      "Says what in db/current, or made by it, is dangerous or against the rules. Exit code 1: it refuses.",
    )
    .option("--with-data", "with the rows of the demonstration shop, which it may fail on")
    .option("--json", "print JSON instead of text")
    .addHelpText(...examples("db check --with-data"))
    .action(async (options) => (await database()).printCheck(options));
  db.command("commit <message> [files...]")
    .description(
      "Turns db/current, or some of its files, into a committed migration. MESSAGE says what it does.",
    )
    .addHelpText(
      ...examples('db commit "product weight"', 'db commit "product weight" 0100-product-weight.sql'),
    )
    .action(async (message, chosen) => (await database()).commit(message, chosen));
  db.command("uncommit")
    .description("Brings the newest committed migration back into db/current.")
    .option("--shared", "though others may have it")
    .addHelpText(...examples("db uncommit"))
    .action(async (options) => (await database()).uncommit(options));
  db.command("schema")
    .description("Writes db/schema.sql, as commit does. It has what all committed migrations make.")
    .addHelpText(...examples("db schema"))
    .action(async () => (await database()).writeSchemaFile());
}

function addDatabaseTools(db: Group): void {
  db.command("reset")
    .description("Recreates the development database, with demonstration data.")
    .option("--erase", "also that of DATABASE_URL")
    .addHelpText(...examples("db reset"))
    .action(async (options) => (await database()).reset(options));
  db.command("backfill")
    .description("Says how far background work is with what migrations have it fill. Exit code 1: one fails.")
    .option("--run", "work it off here")
    .addHelpText(...examples("db backfill --run"))
    .action(async (options) => (await database()).printBackfills(options));
  db.command("slow [id]")
    .description(
      `Lists the operations of the last 14 days, by the time that they took of the database. With an id it shows the operation,
its tokens, its statements, the plan, and indexes that would help. Statements are counted by pg_stat_statements too, where
that is installed and the role of DATABASE_URL may read it.`,
    )
    .addOption(new Option("--by <time>", "in all, or the slowest").choices(["total", "worst"] as const))
    .option("--try", "plan with each index: by hypopg, or by making it for a moment, which blocks writes")
    .addHelpText(...examples("db slow --by worst", "db slow 9f0c2a51c7e1d3b4 --try"))
    .action(async (id, options) => (await import("./slow.ts")).printSlow(id, options));
  db.command("psql")
    .description(
      "Opens psql as the owner of the tables. Where none is installed, a small one takes its place.",
    )
    .option("-c, --command <sql>", "run this and end")
    .addHelpText(...examples("db psql -c 'select * from ledger.proof limit 10'"))
    .action(async (options) => (await import("./psql.ts")).openPsql(options));
  db.command("env")
    .description(
      `Prints variables for other programs that migrate: DATABASE_URL, SHADOW_DATABASE_URL, ROOT_DATABASE_URL. A shell takes
them by eval "$(npx erp db env)".`,
    )
    .addHelpText(...examples("db env"))
    .action(async () => (await database()).printVariables());
}

function addReleases(erp: Program): void {
  const release = erp.command("release").description(
    `Creates, compares, extends and retires versions of the API. SLUG is 2027-01 for a stable version, of January, April, July or
October, or 2027-02-unstable for a dated preview.`,
  );
  release
    .command("create <slug>")
    .description(
      `Freezes what \`unstable\` offers now, unless the check finds something. It writes a committed migration,
schema/SLUG.graphql, for a stable version schema/released/SLUG.graphql too, docs/versions/SLUG.md with what is different,
and a line in src/versions/versions.json. Review and commit them.`,
    )
    .option("--date <day>", "the first day on which it is served, such as 2027-01-15; today if not given")
    .addHelpText(...examples("release create 2027-01"))
    .action(async (slug, options) => (await releases()).release(slug, options));
  release
    .command("diff <before> <after>")
    .description("Prints what is different in the second version, for clients of the first.")
    .addHelpText(...examples("release diff 2026-06-unstable unstable"))
    .action(async (before, after) => (await releases()).printChanges(before, after));
  release
    .command("extend <slug> [views...]")
    .description(
      "Gives a stable version columns that these views have gained, and types and functions that it lacks.",
    )
    .addHelpText(...examples("release extend 2027-01 products"))
    .action(async (slug, views) => (await releases()).extend(slug, views));
  release
    .command("retire <slug>")
    .description("Drops a version that has ended.")
    .addHelpText(...examples("release retire 2026-06-unstable"))
    .action(async (slug) => (await releases()).retire(slug));
}
