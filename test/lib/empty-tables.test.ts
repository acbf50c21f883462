import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { useDatabase } from "./database.ts";
import { emptyTables } from "./empty-tables.ts";
import { until } from "./until.ts";

describe("emptying tables", () => {
  let admin: pg.Client;
  let other: pg.Client;
  // Before the database is dropped
  after(() => Promise.all([admin, other].map((client) => client.end())));
  const used = useDatabase("template_schema");
  before(async () => {
    admin = new pg.Client({ connectionString: used.database.adminUrl, application_name: "emptying" });
    other = new pg.Client({ connectionString: used.database.adminUrl });
    await Promise.all([admin.connect(), other.connect()]);
  });

  const hasTried =
    "select from pg_stat_activity where application_name = 'emptying' and state = 'idle' and query ~ '^do'";

  for (const [first, second] of [
    ["erp.product", "erp.tag"],
    ["erp.tag", "erp.product"],
  ])
    it(`lets others go on that have locked ${first}, and now lock ${second}`, async () => {
      const { client } = used;
      await client.query(
        "insert into erp.product (product_number) values ('A'); insert into erp.tag (name) values ('new')",
      );
      await admin.query("select");
      await client.query(`begin; select from ${first} for update`);
      const emptied = emptyTables(admin, "erp.product", "erp.tag");
      await until(async () => (await other.query(hasTried)).rowCount === 1);
      await client.query(`select from ${second} for update`);
      await client.query("commit");
      await emptied;
      const { rows } = await client.query(
        "select (select count(*)::int from erp.product) as products, (select count(*)::int from erp.tag) as tags",
      );
      assert.deepEqual(rows, [{ products: 0, tags: 0 }]);
    });
});
