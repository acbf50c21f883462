import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ClientBase } from "pg";
import type { Edition } from "../documentation/edition.ts";
import { settingsByTopic } from "../process/settings.ts";
import { printEnvironmentFile, printSettingsPage } from "../process/settings/print.ts";
import { timetable } from "../versions/timetable.ts";
import { versions } from "../versions/versions.ts";
import { printEventSchemas } from "../webhooks/event-schemas.ts";
import { asOwner, withPgService } from "./with-database.ts";

const root = new URL("../../", import.meta.url);

/** Writes a file of the project, and says so. */
async function write(file: string, text: string): Promise<void> {
  await writeFile(new URL(file, root), text);
  console.log(file);
}

const introduction = `# Data model

All tables and their keys. \`npm run schema\` writes this page from the database, and a test compares the two.

A diagram shows the columns of keys: \`PK\` of the primary key, \`UK\` of a unique key, and \`FK\` of a foreign key, with its target. Lines show
the foreign keys within a diagram. Link tables are many-to-many lines with a name.
Comments describe tables and columns: \`\\d+ erp.product\` in psql, or db/schema.sql.
`;

/** The text of docs/reference/data-model.md: an ER diagram for each topic. */
export async function printDataModel(client: ClientBase): Promise<string> {
  const query = await readFile(new URL("db/data-model.sql", root), "utf8");
  const { rows } = await client.query<{ section: string }>(query);
  return introduction + rows.map(({ section }) => section).join("");
}

/** Writes `schema/`, `docs/events` and `docs/reference/data-model.md`. */
export const writeSchemas = (): Promise<void> =>
  asOwner(async (client, url) => {
    const { printVersion } = await import("../versions/sdl.ts");
    await mkdir(new URL("schema/", root), { recursive: true });
    await withPgService(url, async (service) => {
      for (const version of versions)
        await write(`schema/${version.slug}.graphql`, await printVersion(version, service));
    });
    // Topics that were removed take their files with them
    const events = new URL("docs/events/", root);
    await rm(events, { recursive: true, force: true });
    await mkdir(events, { recursive: true });
    for (const [name, text] of await printEventSchemas(client)) await writeFile(new URL(name, events), text);
    console.log("docs/events");
    await write("docs/reference/data-model.md", await printDataModel(client));
  });

/** Writes `.env.example` and `docs/reference/settings.md`. */
export async function writeSettings(): Promise<void> {
  await write(".env.example", printEnvironmentFile(settingsByTopic));
  await write("docs/reference/settings.md", printSettingsPage(settingsByTopic));
}

/** Writes the documentation that the service shows at `/docs`. */
export const writeDocumentation = (folder: string): Promise<void> =>
  asOwner(async (client, url) => {
    const { describeSchema, readTopics } = await import("../documentation/edition.ts");
    const { writeStatic } = await import("../documentation/static.ts");
    const { buildVersion } = await import("../versions/sdl.ts");
    const topics = await readTopics(client);
    const editions: Edition[] = [];
    await withPgService(url, async (service) => {
      for (const version of versions) {
        const described = await describeSchema(await buildVersion(version, service));
        editions.push({ slug: version.slug, topics, ...described });
      }
    });
    const site = { versions: timetable(versions, Date.now()), explorer: false };
    console.log(`${await writeStatic(site, editions, resolve(folder))} files in ${folder}`);
  });
