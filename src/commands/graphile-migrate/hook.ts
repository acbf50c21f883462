// The steps that graphile-migrate runs besides its own (settings.ts).
import "../../process/graphile-env.ts";
import type pg from "pg";
import { isRefused } from "../../check/finding.ts";
import { printFindings } from "../../check/report.ts";
import { getDatabaseName, withClient } from "../../postgres/client.ts";
import { printCommittedSchema, writeSchema } from "../../migrations/schema-file.ts";
import { urlOfDatabase, createCommittedDatabase } from "../../migrations/templates.ts";
import { dropDatabase, isOwn, markSql } from "../../migrations/own-databases.ts";
import { installQueueSchema } from "../../migrations/worker-schema.ts";
import { UserError } from "../../errors/user-error.ts";
import { atTheTerminal, hasColors, say } from "../terminal.ts";
import { nameGraphileShadow } from "./urls.ts";

const adminUrl = process.env.SERVICE_ADMIN_URL!;
/** The database that graphile-migrate works on: the URL's database, or the shadow. */
const name = process.env.GM_DBNAME!;
const onServer = (work: (admin: pg.Client) => Promise<void>) =>
  withClient(urlOfDatabase(adminUrl, "postgres"), work);
const ofDatabase = getDatabaseName(adminUrl);
const mark = `Shadow of graphile-migrate for ${ofDatabase}`;

const steps: Record<string, () => Promise<void>> = {
  /** Only a shadow that it has made itself is dropped, unless SHADOW_DATABASE_URL says which one to use. */
  own: () =>
    onServer(async (admin) => {
      if (name !== nameGraphileShadow(ofDatabase) || (await isOwn(admin, name, mark))) return;
      throw new UserError(
        `There is a database ${name} that graphile-migrate hasn't made: rename it, drop it, or set SHADOW_DATABASE_URL.`,
      );
    }),
  /** With its connections at once: a service opens others before graphile-migrate drops it. */
  drop: () => onServer((admin) => dropDatabase(admin, name)),
  async check() {
    // Loaded when needed: it takes most of the time of the other steps
    const { checkCurrent } = await import("../../check/rehearsal.ts");
    const findings = await checkCurrent(adminUrl);
    if (findings.length > 0) say(printFindings(findings, { color: hasColors() }));
    if (isRefused(findings)) process.exitCode = 1;
  },
  /** An empty database becomes a copy of one with the committed migrations, which takes less than running them. */
  async copy() {
    const isShadow = process.env.GM_SHADOW !== undefined;
    await onServer(async (admin) => {
      await dropDatabase(admin, name);
      await createCommittedDatabase(admin, adminUrl, name);
      if (isShadow) await admin.query(markSql(name, mark));
    });
    if (!isShadow) await installQueueSchema(adminUrl);
  },
  schema: async () => writeSchema(await printCommittedSchema(adminUrl)),
};

await atTheTerminal(async () => {
  for (const step of process.argv.slice(2)) {
    await steps[step]!();
    if (process.exitCode !== undefined) return;
  }
});
