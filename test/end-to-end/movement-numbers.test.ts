// Movements of stock get numbers without gaps, after the commit.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sequence } from "../events/support.ts";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop } from "../lib/shop.ts";

/** A booking in SQL, of the product with the number $1. */
const insertMovement = `insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name,
    source_special_stock_location_technical_name, destination_location_type_technical_name, destination_special_stock_location_technical_name)
  select id, 1, 'special_stock_location', 'import', 'special_stock_location', 'unknown' from erp.product where product_number = $1`;

describe("numbers of stock movements", () => {
  let shop: Shop;
  let token: string;
  before(async () => {
    shop = await openShop();
    token = await shop.token();
  });
  after(() => shop.close());

  const numbered = async (filter: object = {}): Promise<[id: string, sequence: number | null][]> => {
    const query =
      "query ($filter: StockMovementFilterInput) { stockMovements(first: 250, filter: $filter) { edges { node { id sequence } } } }";
    const { body, text } = await shop.ask(token, { query, variables: { filter } });
    assert.equal(body.errors, undefined, text);
    return body.data.stockMovements.edges.map(({ node }: any) => [node.id, node.sequence]);
  };
  const book = async (product: string, count = 1): Promise<string[]> => {
    const line = { productId: shop.id[product], place: { warehouseId: shop.id.hall }, delta: 1 };
    const { stockMovements } = await shop.mutate("stockAdjust", { lines: Array(count).fill(line) });
    return stockMovements.map(({ id }: any) => id);
  };

  it("come after the commit, in the order of the lines", async () => {
    const booked = await book("hammer", 3);
    assert.deepEqual(
      await numbered(),
      booked.map((id) => [id, null]),
    );
    await sequence(shop.owner);
    assert.deepEqual(
      await numbered(),
      booked.map((id, index) => [id, index + 1]),
    );
  });

  it("are filtered by, in windows that are always without gaps", async () => {
    const booked = await book("nail", 4);
    await sequence(shop.owner);
    const all = await numbered();
    for (const [filter, expected] of [
      [{ gt: 3, lte: 5 }, [4, 5]],
      [{ gte: 6 }, [6, 7]],
      [{ lt: 2 }, [1]],
      [{ equals: 4 }, [4]],
      [{ in: [2, 7, 99] }, [2, 7]],
      [{ isNull: true }, []],
    ] as [object, number[]][]) {
      const found = await numbered({ sequence: filter });
      assert.deepEqual(
        found,
        expected.map((number) => all[number - 1]),
        JSON.stringify(filter),
      );
    }
    assert.deepEqual(
      await numbered({ sequence: { gt: 3 } }),
      booked.map((id, index) => [id, index + 4]),
    );
  });

  it("follow the commits, not the beginnings", async () => {
    const [early] = await book("hammer");
    const writer = await shop.owner.connect();
    await writer.query("begin");
    await writer.query("insert into erp.product (product_number) values ('slow')");
    await writer.query(insertMovement, ["slow"]);
    const [late] = await book("hammer");
    await sequence(shop.owner);
    await writer.query("commit");
    writer.release();
    await sequence(shop.owner);
    const last = (await numbered()).slice(-3);
    assert.deepEqual(
      last.map(([, number]) => number),
      [8, 10, 9],
    );
    assert.deepEqual([last[0]![0], last[2]![0]], [early, late]);
  });

  it("stay when the movements go with their product, and the books are right", async () => {
    await shop.owner.query("delete from erp.product where product_number = 'slow'");
    assert.deepEqual(await numbered({ sequence: { equals: 10 } }), []);
    const [next] = await book("hammer");
    await sequence(shop.owner);
    assert.deepEqual(await numbered({ sequence: { gt: 9 } }), [[next, 11]]);
    await assertLedgerIsRight(shop);
  });

  it("are also given to a movement that went before it had one", async () => {
    await shop.owner.query("insert into erp.product (product_number) values ('brief')");
    await shop.owner.query(insertMovement, ["brief"]);
    await shop.owner.query("delete from erp.product where product_number = 'brief'");
    const [next] = await book("hammer");
    await sequence(shop.owner);
    assert.deepEqual(await numbered({ sequence: { gt: 11 } }), [[next, 13]]);
    await assertLedgerIsRight(shop);
  });

  it("are given once, also by hand, to what the sequencer has not come to", async () => {
    const [waiting] = await book("hammer");
    const byHand = async () =>
      (await shop.owner.query("select ledger.number_movements()::int as given")).rows[0].given;
    assert.equal(await byHand(), 1);
    await sequence(shop.owner);
    assert.deepEqual(await numbered({ sequence: { gt: 13 } }), [[waiting, 14]]);
    assert.equal(await byHand(), 0);
  });

  it("are missed by the proof when one is lost", async () => {
    const client = await shop.owner.connect();
    await client.query("begin");
    await client.query("delete from ledger.movement_sequence where sequence = 2");
    const { rows } = await client.query("select figure, stored, expected from ledger.proof");
    await client.query("rollback");
    client.release();
    assert.deepEqual(rows, [{ figure: "movement_sequence.sequence", stored: "14", expected: "13" }]);
  });
});
