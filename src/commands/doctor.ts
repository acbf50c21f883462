import { withClient } from "../postgres/client.ts";
import { runningClusterUrl, startCluster } from "../cluster/cluster.ts";
import { requireData } from "../cluster/folder.ts";
import { databaseName } from "../migrations/open-database.ts";
import { readSettings } from "../process/settings.ts";
import type { Settings } from "../process/settings.ts";
import { atTheCommandLine } from "./command-line.ts";
import { examine } from "./doctor/examine.ts";
import type { Examined } from "./doctor/examine.ts";
import type { Severity } from "./doctor/finding.ts";
import { paint } from "./terminal.ts";

const usage = `Examines the settings, the database and what is around them, and says what to do. It changes nothing.

Usage: npm run doctor [-- --json]

  --json   print JSON instead of text: {"healthy": …, "examined": [{"name": …, "findings": [{"severity": …, "what": …, "toDo": …}]}]}

An error needs somebody today, a warning this week, a note nobody. Works on the service's own Postgres, whether the
service runs or not, or on DATABASE_URL, which then must be an administrator's.
Exit code 0: no errors, 1: errors, 2: invalid arguments.
`;

const colors = { error: "red", warning: "yellow", note: "blue" } as const satisfies Record<Severity, string>;

await atTheCommandLine({ usage, options: { json: { type: "boolean" } } }, async ({ json }) => {
  const settings = readSettings();
  const examined = await withDatabase(settings, (url) =>
    withClient(url, (client) => examine({ settings, client, url, now: Date.now })),
  );
  const healthy = !examined.some(({ findings }) => findings.some(({ severity }) => severity === "error"));
  process.stdout.write(json ? `${JSON.stringify({ healthy, examined }, null, 2)}\n` : printed(examined));
  if (!healthy) process.exitCode = 1;
});

/** Runs work with the database as it is: the service's own Postgres is started, but not migrated. */
async function withDatabase<T>(settings: Settings, work: (url: string) => Promise<T>): Promise<T> {
  const { databaseUrl, dataDirectory: directory, runAs } = settings;
  const running = databaseUrl ?? (await runningClusterUrl(directory, databaseName));
  if (running !== null) return work(running);
  await requireData(directory);
  const cluster = await startCluster({ directory, runAs });
  try {
    return await work(cluster.adminUrl(databaseName));
  } finally {
    await cluster.stop();
  }
}

function printed(examined: readonly Examined[]): string {
  const lines = examined.flatMap(({ name, findings }) =>
    findings.length === 0
      ? [`${name}: well`]
      : findings.flatMap(({ severity, what, toDo }) => [
          `${name}: ${paint(colors[severity], severity)}: ${what}`,
          `    ${toDo}`,
        ]),
  );
  return `${lines.join("\n")}\n`;
}
