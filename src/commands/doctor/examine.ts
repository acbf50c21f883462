import { backgroundWork, keys, lints, migrations, neighbours } from "./database.ts";
import { proof, retention, rights } from "./database.ts";
import { error } from "./finding.ts";
import type { Examination, Finding, Patient } from "./finding.ts";
import { backups, disk, settings, time, versionsInUse } from "./process.ts";
import { indexes, replication, serverSettings, vacuum } from "./server.ts";

/** All examinations, in the order of the report: what the later ones need comes first. */
const examinations: readonly Examination[] = [
  settings,
  versionsInUse,
  time,
  disk,
  serverSettings,
  migrations,
  rights,
  neighbours,
  keys,
  backups,
  replication,
  backgroundWork,
  retention,
  vacuum,
  indexes,
  lints,
  proof,
];

/** What one examination has found. */
export interface Examined {
  name: string;
  findings: Finding[];
}

/** Examines everything. It changes nothing: what it reads in the database is in transactions that read only. */
export async function examine(patient: Patient): Promise<Examined[]> {
  const all: Examined[] = [];
  for (const examination of examinations)
    all.push({ name: examination.name, findings: await findingsOf(examination, patient) });
  return all;
}

async function findingsOf({ asOwner = false, find }: Examination, patient: Patient): Promise<Finding[]> {
  const { client } = patient;
  await client.query(`begin read only${asOwner ? "; set local role service_owner" : ""}`).catch(() => {});
  try {
    return await find(patient);
  } catch (failure) {
    return [
      error(
        `It can't be examined: ${(failure as Error).message}`,
        "Give the command an administrator's DATABASE_URL, and run `npx erp db setup` if it was never run.",
      ),
    ];
  } finally {
    await client.query("rollback");
  }
}
