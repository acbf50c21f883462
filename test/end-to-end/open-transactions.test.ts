// The open transactions that cursors remember: erp.open_transactions().
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openRanges } from "../../src/graphql/cursor.ts";
import { FollowedShop } from "./followed-shop.ts";

describe("the transactions that are open", () => {
  let at: FollowedShop;
  before(async () => void (at = await FollowedShop.open("unstable")));
  after(() => at.close());

  it("are told once in a transaction, and to none that writes: the second answer could be an old one", async () => {
    const client = await at.shop.owner.connect();
    const ask = async () => (await client.query("select erp.open_transactions() as open")).rows[0].open;
    const refused = { message: /by one statement in a transaction of its own/ };
    try {
      await client.query("begin");
      await ask();
      await at.book();
      await assert.rejects(ask(), refused);
      await client.query("rollback; begin isolation level repeatable read");
      const first = await ask();
      await at.book();
      assert.equal(await ask(), first, "the same snapshot has the same answer");
      await client.query("rollback; begin; select pg_current_xact_id()");
      await assert.rejects(ask(), refused);
    } finally {
      await client.query("rollback");
      client.release();
    }
  });

  it("are all of them: those that began before and after the newest that has ended, and none that has", async () => {
    const [older, ended, newer] = [await at.begin(), await at.begin(), await at.begin()];
    const numberOf = async ({ client }: typeof older) =>
      BigInt((await client.query("select pg_current_xact_id() as number")).rows[0].number);
    const numbers = [await numberOf(older), await numberOf(ended), await numberOf(newer)];
    await ended.commit();
    const { rows } = await at.shop.owner.query("select erp.open_transactions() as open");
    const { rows: contained } = await at.shop.owner.query(
      "select array(select n <@ $1::int8multirange from unnest($2::bigint[]) n) as open",
      [openRanges(rows[0].open), numbers.map(String)],
    );
    assert.deepEqual(contained[0].open, [true, false, true]);
    await at.endBookings();
  });
});
