import { writeFile } from "node:fs/promises";
import { anonymizeCustomer } from "./customers/anonymize.ts";
import type { Anonymized } from "./customers/anonymize.ts";
import { exportCustomer } from "./customers/export.ts";
import { say } from "./terminal.ts";
import { asOwner } from "./with-database.ts";

export async function printCustomer(customer: string, { to }: { to?: string }): Promise<void> {
  const found = await asOwner((client) => exportCustomer(client, customer));
  const text = `${JSON.stringify(found, null, 2)}\n`;
  if (to === undefined) return void process.stdout.write(text);
  // For nobody else's eyes
  await writeFile(to, text, { mode: 0o600 });
  say(`Written to ${to}.`);
}

export async function anonymize(customer: string): Promise<void> {
  console.log(printed(await asOwner((client) => anonymizeCustomer(client, customer))));
}

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
    "Backups, logs, and what webhooks have sent to others still have the old values (docs/guides/retention.md).",
  ].join("\n");
}
