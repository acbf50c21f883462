import { hash, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { growingPause, pause, retry } from "../lib/retry.ts";
import { withClient } from "../postgres/client.ts";
import { dropDatabase, isTaken, renameMarked } from "./own-databases.ts";
import { readCommitted } from "./migration-files.ts";
import type { MigrateOptions } from "./migrate-options.ts";
import { migrateDatabase } from "./migrations.ts";
import { installQueueSchema } from "./worker-schema.ts";

const fence = new URL("../../db/fence.sql", import.meta.url);

/** How the names of templates begin. */
const prefix = "service_template_";
const mark = "Template of the service";
/** Bytes of a name that Postgres keeps. */
const nameBytes = 63;
/** Templates of a kind that stay on a server. */
const keptPerKind = 4;
/** Pauses while others use or drop a template. */
const pauses = { firstMs: 20, factor: 1.5, longestMs: 500 };
const attempts = 40;
/** How often it is asked whether another process still makes a template, in about ten seconds. */
const lockAttempts = 25;

/** The content of a template: committed migrations; the same with the job queue; or with demonstration data as well. */
export type TemplateKind = "schema" | "merchant" | "demo";

export const templateName = (kind: TemplateKind, key: string): string => `${prefix}${kind}_${key}`;

/** A database of the same server. */
export const urlOfDatabase = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${encodeURIComponent(name)}` }).href;

/** Returns the name of a database that belongs to another one; a hash shortens names that are too long. */
export function derivedName(name: string, ending: string): string {
  if (Buffer.byteLength(name + ending) <= nameBytes) return name + ending;
  const unique = `_${shortHash(name)}${ending}`;
  // Drop a character that was cut in two
  const begin = new TextDecoder().decode(Buffer.from(name).subarray(0, nameBytes - unique.length), {
    stream: true,
  });
  return begin + unique;
}

/** For each committed migration, a key that stands for it and all before it. */
export async function readCommittedKeys(): Promise<string[]> {
  let key = "";
  return (await readCommitted()).map(({ name, text }) => (key = shortHash(`${key}\n${name}\n${text}`)));
}

export const shortHash = (text: string): string => hash("sha256", text).slice(0, 24);

export interface CommittedOptions extends Pick<MigrateOptions, "upTo"> {
  /** Whether to keep a template for the next time; true when not given. */
  isKept?: boolean;
}

/**
 * Runs work on a new database with the committed migrations and no rows, which is dropped afterwards. It is a copy of a
 * template, and only migrations that no template has are run.
 *
 * @param adminUrl a database of the server to make it on, whose roles have been set up
 */
export async function withCommitted<T>(
  adminUrl: string,
  work: (url: string) => Promise<T>,
  options: CommittedOptions = {},
): Promise<T> {
  const name = `rehearsal_${randomUUID()}`;
  try {
    await withClient(adminUrl, (admin) => createCommittedDatabase(admin, adminUrl, name, options));
    return await work(urlOfDatabase(adminUrl, name));
  } finally {
    // The first connection would have ended if another program has recreated its database meanwhile
    await withClient(adminUrl, (admin) => dropDatabase(admin, name));
  }
}

/** Makes such a database, to stay. */
export async function createCommittedDatabase(
  admin: pg.Client,
  adminUrl: string,
  name: string,
  { upTo = Infinity, isKept = true }: CommittedOptions = {},
): Promise<void> {
  const keys = (await readCommittedKeys()).slice(0, upTo);
  const make = (made: string) => buildCommittedDatabase(admin, adminUrl, made, keys);
  const template = templateName("schema", keys.at(-1) ?? "none");
  await (isKept ? copyTemplate(admin, adminUrl, name, { template, make }) : make(name));
}

/** Makes such a database with the job queue, to be served. */
export async function createServedDatabase(admin: pg.Client, adminUrl: string, name: string): Promise<void> {
  await createCommittedDatabase(admin, adminUrl, name);
  await installQueueSchema(urlOfDatabase(adminUrl, name));
}

/** Makes a database with the first committed migrations, beginning with the template that has most of them. */
async function buildCommittedDatabase(
  admin: pg.Client,
  adminUrl: string,
  name: string,
  keys: readonly string[],
): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(
    `select datname as name from pg_database where datname = any ($1::text[])
     order by array_position($1::text[], datname::text) desc limit 1`,
    [keys.map((key) => templateName("schema", key))],
  );
  await copyDatabase(admin, adminUrl, name, rows[0]?.name ?? "template0");
  await migrateDatabase(urlOfDatabase(adminUrl, name), { upTo: keys.length });
}

export interface TemplateToCopy {
  template: string;
  /** Makes a database of that name, which becomes the template. */
  make: (name: string) => Promise<void>;
}

/** Makes a database as a copy of a template, which is made first if it isn't there. */
export async function copyTemplate(
  admin: pg.Client,
  adminUrl: string,
  name: string,
  { template, make }: TemplateToCopy,
): Promise<void> {
  await retry(() => copyDatabase(admin, adminUrl, name, template), {
    async pauseMs(error, failures) {
      const { code } = error as pg.DatabaseError;
      if (failures >= attempts) throw error;
      // object_in_use: another process copies it, or autovacuum looks at it
      if (code === "55006") return growingPause(failures, pauses);
      // undefined_database
      if (code !== "3D000") throw error;
      await makeTemplate(admin, { template, make });
      return 0;
    },
  });
}

async function makeTemplate(admin: pg.Client, { template, make }: TemplateToCopy): Promise<void> {
  const name = `new_template_${randomUUID()}`;
  const isLocked = await lockTemplate(admin, template);
  try {
    const known = await admin.query("select from pg_database where datname = $1", [template]);
    if (known.rowCount! > 0) return;
    await make(name);
    await renameMarked(admin, name, template, mark);
  } catch (error) {
    await dropDatabase(admin, name);
    // Another process has made it meanwhile
    if (!isTaken(error)) throw error;
  } finally {
    if (isLocked) await admin.query("select pg_advisory_unlock(hashtext($1))", [template]);
  }
  await dropOldTemplates(admin, template);
}

/**
 * Waits while another process of the same database creates a template, which takes seconds of processor time. The wait is
 * limited, because a pooler may keep the lock of an ended process. If two create it, the first to rename its own wins.
 */
async function lockTemplate(admin: pg.Client, template: string): Promise<boolean> {
  for (let failures = 1; failures <= lockAttempts; failures++) {
    const { rows } = await admin.query<{ locked: boolean; known: boolean }>(
      `select pg_try_advisory_lock(hashtext($1)) as locked,
         exists (select from pg_database where datname = $1) as known`,
      [template],
    );
    const { locked, known } = rows[0]!;
    if (locked || known) return locked;
    await pause(growingPause(failures, pauses));
  }
  return false;
}

/** Makes a database as a copy of another, with the rights in it, which aren't copied. */
async function copyDatabase(admin: pg.Client, adminUrl: string, name: string, source: string): Promise<void> {
  const [made, from] = [name, source].map((each) => pg.escapeIdentifier(each));
  // Copying files takes a fifth of the time, where a thousand of them needn't be made safe on the disk
  const { rows } = await admin.query<{ strategy: string }>(
    "select case when current_setting('fsync')::boolean then 'wal_log' else 'file_copy' end as strategy",
  );
  await admin.query(
    `create database ${made} owner service_owner template ${from} strategy ${rows[0]!.strategy}`,
  );
  await withClient(urlOfDatabase(adminUrl, name), async (client) =>
    client.query(await readFile(fence, "utf8")),
  );
}

/** Drops all templates of the kind but the newest. A database that is only called like one stays. */
async function dropOldTemplates(admin: pg.Client, template: string): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(
    `select datname as name from pg_database
     where starts_with(datname, $1) and shobj_description(oid, 'pg_database') = $2 order by oid desc offset $3`,
    [template.slice(0, template.lastIndexOf("_") + 1), mark, keptPerKind],
  );
  // Another process may be copying one, or dropping it
  for (const { name } of rows) await dropDatabase(admin, name).catch(() => {});
}
