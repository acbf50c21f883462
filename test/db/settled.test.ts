import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { queryRows, useDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

// Numbers of transactions belong to the server: those of another database are open in every snapshot
describe("what is settled", () => {
  let writer: pg.Client;
  after(() => writer.end());
  const used = useDatabase("template_schema");
  const other = useDatabase("template_schema");
  const rows = queryRows(() => used.client);

  before(async () => {
    await rows(
      `insert into erp.warehouse (code, name, is_default, is_default_receiving) values ('W', 'W', true, true);
       insert into erp.product (product_number, name) values ('P', 'P')`,
    );
    writer = new pg.Client({ connectionString: used.database.ownerUrl });
    await writer.connect();
  });

  /** Notes the present moment, to which transactions can be settled. */
  const note = async (): Promise<string> => {
    await rows("select ledger.note_writing('0')");
    const [{ moment }] = await rows("select max(moment)::text as moment from ledger.writing_since");
    return moment;
  };
  const settled = async (): Promise<string> =>
    (await rows("select ledger.settled_until(pg_current_snapshot())::text as settled"))[0].settled;
  const lock = "select from erp.product where product_number = 'P' for no key update";

  it("does not wait for writers of other databases", async () => {
    await other.client.query("begin");
    await other.client.query("select pg_current_xact_id(); lock table erp.product in row exclusive mode");
    try {
      const noted = await note();
      await writer.query(`begin; ${lock}`);
      assert.equal(await settled(), noted);
      await writer.query("rollback");
      const [{ isNow }] = await rows(`select ledger.settled_until(pg_current_snapshot()) = now() as "isNow"`);
      assert.ok(isNow);
    } finally {
      await other.client.query("rollback");
      await writer.query("rollback");
    }
  });

  it("waits for writers of this database, with and without a number", async () => {
    const early = await note();
    await writer.query(`begin; ${lock}`);
    try {
      // The writer has a number that is less than that of the next note
      const late = await note();
      assert.notEqual(late, early);
      assert.equal(await settled(), early);
      await writer.query("rollback; begin");
      // Without a number it can only get one that is greater
      await writer.query("lock table ledger.stock_movement in row exclusive mode");
      assert.equal(await settled(), late);
    } finally {
      await writer.query("rollback");
    }
  });

  it("is never after a movement that a snapshot does not show", async () => {
    const move = `insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name,
        source_special_stock_location_technical_name, destination_location_type_technical_name, destination_warehouse_id)
      select p.id, 1, 'special_stock_location', 'import', 'warehouse', w.id from erp.product p, erp.warehouse w`;
    await note();
    await writer.query(`begin; ${lock}; ${move}`);
    await note();
    const [{ seen }] = await rows("select pg_current_snapshot()::text as seen");
    const isBefore = `select ledger.settled_until($1) < (
      select max(m.created_at) from ledger.stock_movement m) as "isBefore"`;
    const [whileOpen] = await rows("select ledger.settled_until($1)::text as settled", [seen]);
    await writer.query("commit");
    // A statement that began before the commit may ask after it
    await until(async () => (await rows("select from ledger.stock_movement")).length > 0);
    assert.ok((await rows(isBefore, [seen]))[0].isBefore);
    const [{ isAfter }] = await rows(
      `select max(m.created_at + m.microseconds * interval '1 microsecond') > $1::timestamptz as "isAfter"
       from ledger.stock_movement m`,
      [whileOpen.settled],
    );
    assert.ok(isAfter);
    assert.ok(!(await rows(isBefore.replace("$1", "pg_current_snapshot()")))[0].isBefore);
  });
});
