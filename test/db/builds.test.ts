import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { runStringMigration } from "graphile-migrate/dist/migration.js";
import pg from "pg";
import { makePgService } from "postgraphile/adaptors/pg";
import { printVersion } from "../../src/versions/sdl.ts";
import type { ParsedSettings } from "../../src/migrations/graphile-migrate-private.ts";
import { Project } from "../commands/project.ts";
import { readCatalogue, describeDifferences } from "../lib/catalogue.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";

/** A table and a column without derived parts, as in CONTRIBUTING.md under another name; then a release. */
const next = {
  remarks: `
    create table erp.product_remark (
      id uuid primary key default uuidv7(),
      product_id uuid not null references erp.product on delete cascade,
      text text not null
    );
    create index on erp.product_remark (product_id);
    alter table erp.product_remark enable row level security;
    comment on table erp.product_remark is 'Remarks that people leave on products.';
    comment on column erp.product_remark.product_id is 'The product that the remark is on.';
    comment on column erp.product_remark.text is 'The remark.';
    create view api_unstable.product_remarks with (security_invoker = true) as
      select id, product_id, text from erp.product_remark;
    comment on view api_unstable.product_remarks is
      E'@primaryKey id\\n@requiresScopes products:read\\n@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName remarks\\nA remark.';
    alter table erp.tag add column color text not null default 'red';
    comment on column erp.tag.color is 'Color of the label.';
    create or replace view api_unstable.tags as select id, name, color from erp.tag;`,
  "release-2027-01": "select api_meta.freeze('api_unstable', 'api_2027_01');",
  renamed: "alter table erp.tag rename column name to label; alter table erp.tag rename to marker;",
};

describe("databases that are built from the committed migrations", () => {
  let project: Project;
  const open: TestDatabase[] = [];
  before(async () => {
    project = await Project.copy();
    await project.commitCurrent();
    for (const [name, text] of Object.entries(next)) await project.commit(name, text);
  });
  after(async () => {
    for (const database of open) await database.close();
    await project.remove();
  });

  const blank = async () => {
    const database = await openTestDatabase("template0");
    open.push(database);
    return database;
  };
  const look = async <T>({ ownerUrl }: TestDatabase, work: (client: pg.PoolClient) => Promise<T>) => {
    const client = new pg.Client({ connectionString: ownerUrl });
    await client.connect();
    try {
      await client.query("set search_path = pg_catalog");
      return await work(client as unknown as pg.PoolClient);
    } finally {
      await client.end();
    }
  };

  /** As an installation that was updated after each migration, and derived once more at the end, which changes nothing. */
  const buildStepByStep = async (database: TestDatabase) =>
    look(database, async (client) => {
      await client.query(`create schema graphile_migrate;
        create table graphile_migrate.migrations (hash text primary key, previous_hash text references graphile_migrate.migrations, filename text not null, date timestamptz not null default now());
        create table graphile_migrate.current (filename text primary key default 'current.sql', content text not null, date timestamptz not null default now())`);
      const settings = { databaseOwner: "service_owner" } as ParsedSettings;
      for (const migration of await project.migrations())
        await runStringMigration(
          client,
          settings,
          { database: "" },
          migration.body,
          migration.filename,
          migration,
        );
      await client.query("select api_meta.derive(), events.derive_announcements()");
    });

  /** A catalogue without the job queue, which is installed after migrations. */
  const withoutQueue = (catalogue: Map<string, string>) =>
    new Map([...catalogue].filter(([name]) => !name.includes("graphile_worker")));

  const sdlOf = async ({ adminUrl }: TestDatabase, schemaName: string) => {
    const pgService = makePgService({ connectionString: adminUrl, pubsub: false });
    try {
      return await printVersion({ schemaName }, pgService);
    } finally {
      await pgService.release?.();
    }
  };

  it("are the same step by step and at once, those that hold a release too", async () => {
    const stepByStep = await blank();
    await buildStepByStep(stepByStep);
    const atOnce = await project.database();
    open.push(atOnce);

    const [one, other] = [await look(stepByStep, readCatalogue), await look(atOnce, readCatalogue)];
    assert.deepEqual(describeDifferences(one, withoutQueue(other)), []);
    assert.ok(one.size > 4000);
    assert.match(other.get("column api_2027_01.product_remarks.text")!, /@notNull\nThe remark\./);
    assert.ok(other.has("policy erp.product_remark.product_remark_select_api"));

    const released = await sdlOf(atOnce, "api_2027_01");
    assert.equal(released, await sdlOf(stepByStep, "api_2027_01"));
    assert.match(released, /"""Color of the label\."""\s+color: String!/);
    const parts = "select version, kind, name, parent, definition from api_meta.frozen_part order by 1, 2, 3";
    const partsOf = (database: TestDatabase) =>
      look(database, async (client) => (await client.query(parts)).rows);
    assert.deepEqual(await partsOf(stepByStep), await partsOf(atOnce));
  });

  it("are the same as one in which db/current has been run", async () => {
    const development = await openTestDatabase("template_schema");
    open.push(development);
    await project.uncommit(Object.keys(next).length);
    const production = await project.database();
    open.push(production);
    const [one, other] = [await look(development, readCatalogue), await look(production, readCatalogue)];
    assert.deepEqual(describeDifferences(one, other), []);
  });
});
