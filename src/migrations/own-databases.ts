import pg from "pg";

/** Drops a database, whoever has made it. */
export async function dropDatabase(admin: pg.Client, name: string): Promise<void> {
  await admin.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
}

/** The comments of databases of that name: one, or none when there is no such database. */
async function readMarks(admin: pg.Client, name: string): Promise<(string | null)[]> {
  const { rows } = await admin.query<{ mark: string | null }>(
    "select shobj_description(oid, 'pg_database') as mark from pg_database where datname = $1",
    [name],
  );
  return rows.map(({ mark }) => mark);
}

export const readMark = async (admin: pg.Client, name: string): Promise<string | null> =>
  (await readMarks(admin, name))[0] ?? null;

/** Gives a database the comment by which a command knows its own: nothing else is dropped, whatever it is called. */
export const markSql = (name: string, mark: string | null): string =>
  `comment on database ${pg.escapeIdentifier(name)} is ${mark === null ? "null" : pg.escapeLiteral(mark)}`;

/** Gives a database another name, by which a command will look for it, and the mark. */
export async function renameMarked(
  admin: pg.Client,
  from: string,
  to: string,
  mark: string | null,
): Promise<void> {
  const [old, name] = [from, to].map((each) => pg.escapeIdentifier(each));
  // One batch is one transaction: none has the name without the mark
  await admin.query(`${markSql(from, mark)}; alter database ${old} rename to ${name}`);
}

/** Whether a database can be dropped: there is none, or it has the mark. */
export const isOwn = async (admin: pg.Client, name: string, mark: string): Promise<boolean> =>
  (await readMarks(admin, name)).every((each) => each === mark);

/** Drops a database that has the mark. @returns whether there is none now */
export async function dropOwn(admin: pg.Client, name: string, mark: string): Promise<boolean> {
  if (!(await isOwn(admin, name, mark))) return false;
  await dropDatabase(admin, name);
  return true;
}

/** Whether a database couldn't get a name that another one has: duplicate_database, unique_violation. */
export const isTaken = (error: unknown): boolean =>
  ["42P04", "23505"].includes((error as pg.DatabaseError).code!);
