import "../process/graphile-env.ts";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { withClient } from "../postgres/client.ts";
import { printDataModel } from "./data-model.ts";
import { openForCommand } from "../migrations/open-database.ts";
import { printEventSchemas } from "../webhooks/event-schemas.ts";
import { readSettings } from "../process/settings.ts";
import { versions } from "../versions/versions.ts";
import { atTheCommandLine } from "./command-line.ts";

const folder = new URL("../../schema/", import.meta.url);
const eventsFolder = new URL("../../docs/events/", import.meta.url);
const dataModel = new URL("../../docs/data-model.md", import.meta.url);

const usage = `Writes the files that are made from the database.

Usage: npm run schema

  schema/SLUG.graphql   the schema of each version, as clients see it
  docs/events           the JSON Schema of each topic of events
  docs/data-model.md    the tables and their keys

Tests compare them with what runs, so a change of the API shows as a change of a file. Works on the embedded Postgres,
or on DATABASE_URL.
`;

await atTheCommandLine({ usage }, async () => {
  const { printVersion } = await import("../versions/sdl.ts");
  const { makePgService } = await import("postgraphile/adaptors/pg");
  const { url, close } = await openForCommand(readSettings());
  const pgService = makePgService({ connectionString: url });
  try {
    await mkdir(folder, { recursive: true });
    for (const version of versions) {
      await writeFile(new URL(`${version.slug}.graphql`, folder), await printVersion(version, pgService));
      console.log(`schema/${version.slug}.graphql`);
    }
    // Topics that were removed take their files with them
    await rm(eventsFolder, { recursive: true, force: true });
    await mkdir(eventsFolder, { recursive: true });
    for (const [name, text] of await withClient(url, printEventSchemas))
      await writeFile(new URL(name, eventsFolder), text);
    console.log("docs/events");
    await writeFile(dataModel, await withClient(url, printDataModel));
    console.log("docs/data-model.md");
  } finally {
    await pgService.release?.();
    await close();
  }
});
