import { withClient } from "../postgres/client.ts";
import { databaseName } from "../migrations/open-database.ts";
import { readSettings } from "../process/settings.ts";
import { examine } from "./doctor/examine.ts";
import type { ExaminationResult } from "./doctor/examine.ts";
import type { Severity } from "../check/finding.ts";
import { paint } from "./terminal.ts";
import { withOwnPostgres } from "./with-database.ts";

const colors = { error: "red", warning: "yellow", note: "blue" } as const satisfies Record<Severity, string>;

/** Says what is wrong, and what to do. Exit code 1: there are errors. */
export async function printHealth({ json }: { json?: true }): Promise<void> {
  const settings = readSettings();
  const { databaseUrl } = settings;
  const examineAt = (url: string) =>
    withClient(url, (client) => examine({ settings, client, url, now: Date.now }));
  const examined = await (databaseUrl === undefined
    ? withOwnPostgres(settings, databaseName, examineAt)
    : examineAt(databaseUrl));
  const healthy = !examined.some(({ findings }) => findings.some(({ severity }) => severity === "error"));
  process.stdout.write(json ? `${JSON.stringify({ healthy, examined }, null, 2)}\n` : printed(examined));
  if (!healthy) process.exitCode = 1;
}

function printed(examined: readonly ExaminationResult[]): string {
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
