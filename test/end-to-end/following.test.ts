// A client that keeps `endCursor` and continues sees each row exactly once, also those of transactions that were open
// for long.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { encodeCursor } from "../../src/graphql/cursor.ts";
import type { FollowedList } from "./followed-shop.ts";
import { FollowedShop, followedLists } from "./followed-shop.ts";

/** Versions differ in their views only, so not everything is tested in each. */
const isTested = (slug: string, { name }: FollowedList, executor: string) =>
  slug === "unstable"
    ? executor === "SQL" || name !== followedLists[1]!.name
    : name === followedLists[executor === "Grafast" ? 2 : 0]!.name;

for (const slug of ["unstable", "2026-06-unstable"]) {
  describe(`following stock movements in ${slug}`, () => {
    let at: FollowedShop;
    before(async () => void (at = await FollowedShop.open(slug)));
    afterEach(() => at.endBookings());
    after(() => at.close());

    for (const followed of followedLists) {
      for (const executor of ["SQL", "Grafast"]) {
        if (!isTested(slug, followed, executor)) continue;
        const from = () => (executor === "Grafast" ? at.byGrafast : at.shop);
        const follower = (first?: number) => at.follower(followed, first, from());

        describe(`${followed.name}, by ${executor}`, () => {
          it("a booking that was open is shown later, exactly once", async () => {
            const reader = follower();
            await reader.read();
            const slow = await at.begin();
            const quick = await at.book();
            assert.deepEqual(await reader.read(), [quick]);
            assert.deepEqual(await reader.read(), []);
            await slow.commit();
            assert.deepEqual(await reader.read(), slow.ids);
            assert.deepEqual(await reader.read(), []);
            const next = await at.book();
            assert.deepEqual(await reader.read(), [next]);
          });

          it("so are more of them than a page holds, and what others book meanwhile", async () => {
            const reader = follower(1);
            const fresh = follower(2);
            await fresh.read();
            reader.cursor = fresh.cursor;
            reader.seen.push(...fresh.seen);
            const [first, second, third] = [await at.begin(3), await at.begin(2), await at.begin(1)];
            const quick = await at.book();
            assert.deepEqual(await reader.read(), [quick]);
            await third.commit();
            await second.commit();
            assert.deepEqual((await reader.step()).ids, [second.ids[0]]);
            // Becomes visible in front of the last returned row, while the reader is among late rows
            const later = await at.begin(1);
            await first.commit();
            assert.deepEqual(await reader.step(), { ids: [first.ids[0]], hasNextPage: true });
            const last = await at.book();
            assert.deepEqual(await reader.read(), [...first.ids.slice(1), second.ids[1], ...third.ids, last]);
            await later.commit();
            assert.deepEqual(await reader.read(), later.ids);
            assert.deepEqual(await reader.read(), []);
            await fresh.read();
            assert.deepEqual([...fresh.seen].sort(), [...new Set(reader.seen)].sort());
            assert.equal(fresh.seen.length, new Set(fresh.seen).size);
          });

          it("each edge has a cursor that is as good as the last one", async () => {
            const begun = follower();
            await begun.read();
            const slow = await at.begin(2);
            const quick = [await at.book(), await at.book(), await at.book()];
            const { edges } = await at.read(followed, begun.cursor, 100, from());
            await slow.commit();
            for (const [index, { cursor }] of edges.entries()) {
              const expected = [...slow.ids, ...quick.slice(index + 1)];
              const page = await at.read(followed, cursor, 100, from());
              assert.deepEqual(
                page.edges.map(({ node }: any) => node.id),
                expected,
              );
              for (const [place, edge] of page.edges.entries()) {
                const rest = (await at.read(followed, edge.cursor, 100, from())).edges;
                assert.deepEqual(
                  rest.map(({ node }: any) => node.id),
                  expected.slice(place + 1),
                );
              }
            }
          });
        });
      }
    }

    it("cursors in what a mutation answers are as good", async () => {
      const slow = await at.begin();
      const select =
        "stockMovements { destinationWarehouse { page: destinationStockMovements(first: 250) { pageInfo { endCursor } } } }";
      const lines = [{ productId: at.shop.id.hammer, place: { warehouseId: at.shop.id.hall }, delta: 1 }];
      const { stockMovements } = await at.shop.mutate("stockAdjust", { lines }, { select, version: slug });
      const reader = at.follower(followedLists[2]!);
      const { endCursor } = stockMovements[0].destinationWarehouse.page.pageInfo;
      reader.cursor = endCursor;
      reader.seen.push("what was read before");
      assert.deepEqual(await reader.read(), []);
      await slow.commit();
      assert.deepEqual(await reader.read(), slow.ids);
    });

    it("a booking that stays open holds up no one, and its parts arrive complete", async () => {
      const reader = at.follower(followedLists[0]!, 2);
      await reader.read();
      const slow = await at.begin();
      const ids = [...slow.ids];
      for (let hour = 0; hour < 5; hour++) {
        const booked = [await at.book(), await at.book(), await at.book()];
        assert.deepEqual(await reader.read(), booked);
        ids.push(...(await slow.add(1)));
      }
      await slow.commit();
      assert.deepEqual(await reader.read(), ids);
      assert.deepEqual(await reader.read(), []);
    });

    it("a booking that was undone is never shown, and leaves cursors as they were", async () => {
      const reader = at.follower(followedLists[0]!);
      await reader.read();
      const slow = await at.begin();
      const quick = await at.book();
      assert.deepEqual(await reader.read(), [quick]);
      await slow.rollback();
      assert.deepEqual(await reader.read(), []);
      assert.deepEqual(await reader.read(), []);
    });

    it("savepoints and exceptions in the transaction make no difference", async () => {
      const reader = at.follower(followedLists[0]!);
      await reader.read();
      const slow = await at.begin();
      const { client } = slow;
      await client.query("savepoint a");
      const inside = await slow.add(1);
      await client.query("release a; savepoint b");
      await slow.add(1);
      await client.query("rollback to b");
      const quick = await at.book();
      assert.deepEqual(await reader.read(), [quick]);
      await slow.commit();
      assert.deepEqual(await reader.read(), [...slow.ids, ...inside]);
      assert.deepEqual(await reader.read(), []);
    });

    it("when the clock goes back, ids grow nevertheless", async () => {
      const reader = at.follower(followedLists[0]!);
      await reader.read();
      await at.shop.owner.query(
        `begin; alter table ledger.stock_movement disable trigger stock_movement_names_its_places;
         insert into ledger.stock_movement (id, created_at, product_id, quantity, source_location_type_technical_name,
           source_special_stock_location_technical_name, destination_location_type_technical_name, destination_special_stock_location_technical_name)
         select uuidv7(interval '1 hour'), now(), id, 1, 'special_stock_location', 'import', 'special_stock_location', 'unknown' from erp.product limit 1;
         alter table ledger.stock_movement enable trigger stock_movement_names_its_places; commit`,
      );
      const [future, ...others] = await reader.read();
      assert.deepEqual(others, []);
      const booked = [await at.book(), await at.book(2, "nail")];
      assert.ok(future! < booked[0]! && booked[0]! < booked[1]!);
      assert.deepEqual(await reader.read(), booked);
      const lines = ["hall", "shed"].map((place) => ({
        productId: at.shop.id.hammer,
        place: { warehouseId: at.shop.id[place] },
        delta: 1,
      }));
      const { stockMovements } = await at.shop.mutate("stockAdjust", { lines });
      const ids = stockMovements.map(({ id }: any) => id);
      assert.deepEqual(ids, ids.toSorted());
      assert.deepEqual(await reader.read(), ids);
    });

    it("cursors are refused when what they say was tampered with, also of open transactions", async () => {
      const slow = await at.begin();
      const quick = await at.book();
      const cursor = encodeCursor("Query.stockMovements", quick.slice(-36), "~900.0.4-9.2");
      await at.read(followedLists[0]!, cursor);
      const refused = async (after: string, message?: RegExp) => {
        const { body, codes } = await at.ask(followedLists[0]!.query, { first: 1, after });
        assert.deepEqual(codes, ["CURSOR_INVALID"], after);
        if (message) assert.match(body.errors[0].message, message);
      };
      const [uuid, lower] = [quick.slice(-36), slow.ids[0]!.slice(-36)];
      for (const [open, before] of [
        ["~", []],
        ["~x", []],
        ["~1.", []],
        ["~1-2", []],
        ["~1-2.3-4.5", []],
        ["~1}'::int8multirange", []],
        [`~${"9".repeat(19)}`, []],
        ["~1.2~3", []],
        ["", [{ key: "ffffffff-ffff-ffff-ffff-ffffffffffff", open: "" }]],
        [
          "~1",
          Array.from({ length: 100 }, () => ({ key: "ffffffff-ffff-ffff-ffff-ffffffffffff", open: "~1" })),
        ],
      ] as [string, { key: string; open: string }[]][])
        await refused(encodeCursor("Query.stockMovements", uuid, open, before), /damaged or out of date/);
      const text = Buffer.from(cursor, "base64url").toString();
      for (const tampered of [
        text.replace("~900", "~901"),
        text.replace(/~[^:]*/, ""),
        text.replace(uuid, lower),
      ])
        await refused(Buffer.from(tampered).toString("base64url"));
      await refused(encodeCursor("Query.products", uuid, "~900"), /belongs to the list Query.products/);
      const query = `{ products(after: "${encodeCursor("Query.products", uuid, "~900")}") { edges { cursor } } }`;
      assert.deepEqual((await at.ask(query, {})).codes, ["CURSOR_INVALID"]);
      await slow.rollback();
    });

    it("cursors from before, which remember nothing, are still good", async () => {
      const [first, second] = [await at.book(), await at.book()];
      const { edges } = await at.read(
        followedLists[0]!,
        encodeCursor("Query.stockMovements", first.slice(-36)),
      );
      assert.deepEqual(
        edges.map(({ node }: any) => node.id),
        [second],
      );
    });

    it("ids that are made elsewhere are refused", async () => {
      await assert.rejects(
        at.shop.owner.query(
          "insert into ledger.stock_movement (id, product_id, quantity, source_location_type_technical_name, source_special_stock_location_technical_name, destination_location_type_technical_name, destination_special_stock_location_technical_name) select uuidv7(), id, 1, 'special_stock_location', 'import', 'special_stock_location', 'unknown' from erp.product limit 1",
        ),
        { message: /The ledger gives movements their ids/, constraint: "stock_movement_id_is_given" },
      );
    });
  });
}
