import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import pg from "pg";
import { openTestDatabase } from "../lib/database.ts";

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");

test("including the topics again keeps those of foreign schemas, and drops what ours no longer have", async () => {
  const database = await openTestDatabase("template_schema");
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const declared = async () => {
    const { rows } = await owner.query(
      `select 'subject' as what, type as name from events.subject
       union all select 'field', subject_type || '.' || name from events.field
       union all select 'topic', name from events.topic
       union all select 'occasion', topic || ' ' || operation from events.occasion order by 1, 2`,
    );
    return rows.map(({ what, name }) => `${what} ${name}`);
  };
  try {
    await owner.query(await read("examples/seed-library/migration.sql"));
    const before = await declared();
    assert.ok(before.includes("occasion seed_loan.created insert"));
    await owner.query(
      `insert into events.field (subject_type, name, position, column_name) values ('Order', 'gone', 99, 'id');
       insert into events.topic (name, subject_type, scope, description) values ('order.gone', 'Order', 'orders:read', 'x');
       insert into events.occasion (topic, operation) values ('order.gone', 'insert'), ('order.created', 'delete');
       delete from events.field where subject_type = 'Order' and name = 'id'`,
    );
    await owner.query(await read("db/fixtures/events/topics.sql"));
    assert.deepEqual(await declared(), before);
  } finally {
    await owner.end();
    await database.close();
  }
});
