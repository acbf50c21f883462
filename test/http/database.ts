import { randomUUID } from "node:crypto";
import pg from "pg";

const server = process.env.TEST_SERVER ?? "postgres://localhost:55200";

/** A database of a test's own, a clone of the migrated template. */
export interface TestDatabase {
  ownerUrl: string;
  loginUrl: string;
  close(): Promise<void>;
}

const urlFor = (user: string, name: string) =>
  Object.assign(new URL(`${server}/${name}`), { username: user }).href;

export async function openDatabase(): Promise<TestDatabase> {
  const name = `http_${randomUUID().replaceAll("-", "")}`;
  const admin = new pg.Client({ connectionString: urlFor("postgres", "postgres") });
  await admin.connect();
  await admin.query(`create database ${name} template dev_template`);
  
  return {
    ownerUrl: urlFor("service_owner", name),
    loginUrl: urlFor("service_login", name),
    async close() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
