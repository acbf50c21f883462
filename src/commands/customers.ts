import { writeFile } from "node:fs/promises";
import { withClient } from "../postgres/client.ts";
import { openForCommand } from "../migrations/open-database.ts";
import { readSettings } from "../process/settings.ts";
import { atTheCommandLine } from "./command-line.ts";
import { anonymizeCustomer } from "./customers/anonymize.ts";
import type { Anonymized } from "./customers/anonymize.ts";
import { exportCustomer } from "./customers/export.ts";
import { say, UsageError } from "./terminal.ts";

const usage = `What the database has about one customer: to hand it over, or to make it anonymous.

Usage: npm run customers -- export ID|NUMBER|EMAIL [--to FILE]
       npm run customers -- anonymize ID|NUMBER|EMAIL

  export      all of it as JSON, documents with their files in base64
  anonymize   replaces it for good, everywhere but in documents, which it names. Refused while open orders need
              the address. Backups and what was sent to others aren't changed (docs/retention.md).

  --to        the file to write; without it the JSON is printed

Exit code 0: done, 1: refused or failed, 2: invalid arguments.
`;

const options = { to: { type: "string" } } as const;

await atTheCommandLine({ usage, options, arguments: 2 }, async ({ to }, [command, customer]) => {
  if ((command !== "export" && command !== "anonymize") || !customer)
    throw new UsageError("It takes export or anonymize, and a customer.");
  if (to !== undefined && command === "anonymize") throw new UsageError("--to is for export.");
  const { url, close } = await openForCommand(readSettings());
  try {
    await withClient(url, async (client) => {
      if (command === "anonymize") return console.log(printed(await anonymizeCustomer(client, customer)));
      const text = `${JSON.stringify(await exportCustomer(client, customer), null, 2)}\n`;
      if (to === undefined) process.stdout.write(text);
      else {
        // For nobody else's eyes
        await writeFile(to, text, { mode: 0o600 });
        say(`Written to ${to}.`);
      }
    });
  } finally {
    await close();
  }
});

function printed({ number, wasDone, changed, kept, mentions }: Anonymized): string {
  const counts = Object.entries(changed).filter(([, count]) => count > 0);
  return [
    wasDone
      ? `The customer ${number} is anonymous already.`
      : `The customer ${number} is anonymous now. Changed:`,
    ...counts.map(([what, count]) => `  ${what}: ${count}`),
    ...(kept.length > 0 ? ["Kept as they are, because documents have to be:"] : []),
    ...kept.map(({ type, number: of, id }) => `  ${type} ${of ?? ""} (${id})`),
    ...(mentions.length > 0 ? ["Texts that people wrote still have one of the values; look at them:"] : []),
    ...mentions.map((place) => `  ${place}`),
    "Backups, logs, and what webhooks have sent to others still have the old values (docs/retention.md).",
  ].join("\n");
}
