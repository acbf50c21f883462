// What graphile-migrate runs beside its own steps, see settings.ts.
import "../../process/graphile-env.ts";
import { isRefused } from "../../check/finding.ts";
import { checkCurrent } from "../../check/rehearsal.ts";
import { printFindings } from "../../check/report.ts";
import { withClient } from "../../database/client.ts";
import { committedSchema, writeSchema } from "../../database/migrations/schema-file.ts";
import { besides, createCommitted, dropDatabase } from "../../database/migrations/templates.ts";
import { installQueueSchema } from "../../database/worker-schema.ts";
import { atTheTerminal, hasColors, say } from "../terminal.ts";

const adminUrl = process.env.SERVICE_ADMIN_URL!;

const steps: Record<string, () => Promise<void>> = {
  async check() {
    const findings = await checkCurrent(adminUrl);
    if (findings.length > 0) say(printFindings(findings, { color: hasColors() }));
    if (isRefused(findings)) process.exitCode = 1;
  },
  /** An empty database becomes a copy of one with the committed migrations, which takes less than running them. */
  async copy() {
    const name = process.env.GM_DBNAME!;
    await withClient(besides(adminUrl, "postgres"), async (admin) => {
      await dropDatabase(admin, name);
      await createCommitted(admin, adminUrl, name);
    });
    if (process.env.GM_SHADOW === undefined) await installQueueSchema(adminUrl);
  },
  schema: async () => writeSchema(await committedSchema(adminUrl)),
};

await atTheTerminal(steps[process.argv[2]!]!);
