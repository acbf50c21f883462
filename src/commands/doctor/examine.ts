import { readFile } from "node:fs/promises";
import { keys, lints, migrations, neighbours, retention } from "./database.ts";
import { error } from "./finding.ts";
import type { Examination, Finding, ExaminationInput } from "./finding.ts";
import { backups, disk, settings, time, versionsInUse } from "./process.ts";

/** An examination by a query of db/health, whose rows are findings. */
const createSqlExamination = (name: string, file: string): Examination => ({
  name,
  async find({ client }) {
    const text = await readFile(new URL(`../../../db/health/${file}.sql`, import.meta.url), "utf8");
    // The last statement returns the findings
    const results = [await client.query<Finding>(text)].flat();
    return results.at(-1)!.rows;
  },
});

/** All examinations, in the order of the report: what the later ones need comes first. */
const examinations: readonly Examination[] = [
  settings,
  versionsInUse,
  time,
  disk,
  createSqlExamination("Postgres' settings", "server-settings"),
  migrations,
  createSqlExamination("rights", "rights"),
  neighbours,
  keys,
  backups,
  createSqlExamination("replication", "replication"),
  createSqlExamination("background work", "background-work"),
  retention,
  createSqlExamination("bloat", "bloat"),
  createSqlExamination("indexes", "indexes"),
  lints,
  createSqlExamination("proof", "proof"),
];

/** The findings of one examination. */
export interface ExaminationResult {
  name: string;
  findings: Finding[];
}

/** Examines everything. It changes nothing: what it reads in the database is in transactions that read only. */
export async function examine(patient: ExaminationInput): Promise<ExaminationResult[]> {
  const all: ExaminationResult[] = [];
  for (const examination of examinations)
    all.push({ name: examination.name, findings: await findingsOf(examination, patient) });
  return all;
}

async function findingsOf(
  { asOwner = false, find }: Examination,
  patient: ExaminationInput,
): Promise<Finding[]> {
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
