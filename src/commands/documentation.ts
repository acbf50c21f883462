import "../process/graphile-env.ts";
import { resolve } from "node:path";
import { withClient } from "../postgres/client.ts";
import { openForCommand } from "../migrations/open-database.ts";
import type { Edition } from "../documentation/edition.ts";
import { readSettings } from "../process/settings.ts";
import { timetable } from "../versions/timetable.ts";
import { versions } from "../versions/versions.ts";
import { atTheCommandLine } from "./command-line.ts";

const usage = `Writes the documentation that the service shows at /docs as files, for any web server.

Usage: npm run docs [-- FOLDER]

  FOLDER   where to; by default .data/docs

Works on the embedded Postgres, or on DATABASE_URL.
`;

await atTheCommandLine({ usage, arguments: 1 }, async (_options, [folder = ".data/docs"]) => {
  const { describeSchema, readTopics } = await import("../documentation/edition.ts");
  const { writeStatic } = await import("../documentation/static.ts");
  const { buildVersion } = await import("../versions/sdl.ts");
  const { makePgService } = await import("postgraphile/adaptors/pg");
  const { url, close } = await openForCommand(readSettings());
  const pgService = makePgService({ connectionString: url });
  try {
    const topics = await withClient(url, readTopics);
    const editions: Edition[] = [];
    for (const version of versions) {
      const schema = await buildVersion(version, pgService);
      editions.push({
        ...{ id: editions.length, slug: version.slug, topics },
        ...(await describeSchema(schema)),
      });
    }
    const site = { versions: timetable(versions, Date.now()), explorer: false };
    const count = await writeStatic(site, editions, resolve(folder));
    console.log(`${count} files in ${folder}`);
  } finally {
    await pgService.release?.();
    await close();
  }
});
