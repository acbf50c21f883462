// Whoever keeps `endCursor` and reads on sees each row exactly once, also those whose transaction was open for long.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import pg from "pg";
import { encodeCursor } from "../../plugins/cursor.ts";
import { versions } from "../../src/versions/versions.ts";
import type { Shop } from "../mutations/shop.ts";
import { assertBooksAreRight, openShop } from "../mutations/shop.ts";
import { sequence } from "../events/support.ts";

/** A list, and how its page is asked for: `PAGE` stands where its arguments and fields do. */
interface List {
  name: string;
  query: string;
  page(data: any): any;
}

/** A booking in SQL, of the product with the number $1. */
const insertMovement = `insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name,
    source_special_stock_location_technical_name, destination_location_type_technical_name, destination_special_stock_location_technical_name)
  select id, 1, 'special_stock_location', 'import', 'special_stock_location', 'unknown' from erp.product where product_number = $1`;

const fields = "edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
const list = (name: string, before: string, behind = "", filter = ""): List => ({
  name,
  query: `query ($first: Int, $after: String, $hall: ID!) { ${before}(first: $first, after: $after${filter}) { ${fields} } ${behind} ok: warehouse(id: $hall) { id } }`,
  page: (data) => data.page ?? data.parent.page,
});

const lists = [
  list("all movements", "page: stockMovements"),
  list(
    "movements with a filter",
    "page: stockMovements",
    "",
    ", filter: { destinationWarehouseId: { equals: $hall } }",
  ),
  list("movements into a warehouse", "parent: warehouse(id: $hall) { page: destinationStockMovements", "}"),
];

/** Versions differ in their views only, so not everything is tried in each. */
const isTested = (slug: string, { name }: List, way: string) =>
  slug === "unstable"
    ? way === "one statement" || name !== lists[1]!.name
    : name === lists[way === "Grafast" ? 2 : 0]!.name;

for (const slug of ["unstable", "2026-06-unstable"]) {
  describe(`following stock movements in ${slug}`, () => {
    let shop: Shop;
    let token: string;
    let byGrafast: Awaited<ReturnType<Shop["another"]>>;
    const writers: pg.Client[] = [];
    before(async () => {
      const served = versions.filter((version) => version.slug === slug || version.slug === "unstable");
      shop = await openShop({ versions: served });
      token = await shop.token();
      byGrafast = await shop.another({ versions: served, settings: { fastReads: false } });
    });
    afterEach(() => Promise.all(writers.splice(0).map((writer) => writer.end())));
    after(() => shop.close());

    const read = async (
      { query, page }: List,
      after: string | null,
      first = 100,
      from: Pick<Shop, "ask"> = shop,
    ): Promise<any> => {
      const variables = { first, after, hall: shop.id.hall };
      const { body, text } = await from.ask(token, { query, variables }, { version: slug });
      assert.equal(body.errors, undefined, text);
      return page(body.data);
    };

    /** Somebody who reads a list, page by page, and goes on from where they were. */
    class Follower {
      readonly seen: string[] = [];
      cursor: string | null = null;
      readonly list: List;
      readonly first: number;
      readonly from: Pick<Shop, "ask">;
      constructor(of: List, first = 100, from: Pick<Shop, "ask"> = shop) {
        this.list = of;
        this.first = first;
        this.from = from;
      }

      /** Reads one page. */
      async step(): Promise<{ ids: string[]; hasNextPage: boolean }> {
        const { edges, pageInfo } = await read(this.list, this.cursor, this.first, this.from);
        const nothing = await read(this.list, this.cursor, 0, this.from);
        assert.equal(nothing.pageInfo.hasNextPage, edges.length > 0, "first: 0 says whether there is more");
        assert.equal(pageInfo.hasPreviousPage, this.seen.length > 0);
        assert.equal(pageInfo.endCursor, edges.at(-1)?.cursor ?? null);
        const ids: string[] = edges.map(({ node }: any) => node.id);
        this.seen.push(...ids);
        this.cursor = pageInfo.endCursor ?? this.cursor;
        return { ids, hasNextPage: pageInfo.hasNextPage };
      }

      /** Reads to the end, and answers what was new. */
      async read(): Promise<string[]> {
        const ids: string[] = [];
        for (;;) {
          const page = await this.step();
          ids.push(...page.ids);
          if (!page.hasNextPage) return ids;
        }
      }
    }

    const book = async (quantity = 1, product = "hammer"): Promise<string> => {
      const lines = [{ productId: shop.id[product], place: { warehouseId: shop.id.hall }, delta: quantity }];
      const { stockMovements, userErrors } = await shop.mutate("stockAdjust", { lines });
      assert.deepEqual(userErrors, []);
      return stockMovements[0].id;
    };

    /** Begins a booking of its own product, and leaves it open. */
    const begin = async (count = 1) => {
      const client = new pg.Client({ connectionString: shop.ownerUrl });
      writers.push(client);
      await client.connect();
      await client.query("begin");
      const { rows: made } = await client.query(
        `insert into erp.product (product_number) values ('slow ' || gen_random_uuid()) returning id`,
      );
      const add = async (more: number): Promise<string[]> => {
        const { rows } = await client.query(
          `insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name,
             source_special_stock_location_technical_name, destination_location_type_technical_name, destination_warehouse_id)
           select $1, 1, 'special_stock_location', 'import', 'warehouse', $2 from generate_series(1, $3) returning id`,
          [made[0].id, shop.id.hall!.slice(-36), more],
        );
        return rows.map(({ id }) => `gid://service/StockMovement/${id}`);
      };
      return {
        ids: await add(count),
        add,
        commit: () => client.query("commit"),
        rollback: () => client.query("rollback"),
      };
    };

    for (const followed of lists) {
      for (const way of ["one statement", "Grafast"]) {
        if (!isTested(slug, followed, way)) continue;
        const from = (): Pick<Shop, "ask"> => (way === "Grafast" ? byGrafast : shop);
        const follower = (first?: number) => new Follower(followed, first, from());

        describe(`${followed.name}, by ${way}`, () => {
          it("a booking that was open is shown later, exactly once", async () => {
            const reader = follower();
            await reader.read();
            const slow = await begin();
            const quick = await book();
            assert.deepEqual(await reader.read(), [quick]);
            assert.deepEqual(await reader.read(), []);
            await slow.commit();
            assert.deepEqual(await reader.read(), slow.ids);
            assert.deepEqual(await reader.read(), []);
            const next = await book();
            assert.deepEqual(await reader.read(), [next]);
          });

          it("so are more of them than a page holds, and what others book meanwhile", async () => {
            const reader = follower(1);
            const fresh = follower(2);
            await fresh.read();
            reader.cursor = fresh.cursor;
            reader.seen.push(...fresh.seen);
            const [first, second, third] = [await begin(3), await begin(2), await begin(1)];
            const quick = await book();
            assert.deepEqual(await reader.read(), [quick]);
            await third.commit();
            await second.commit();
            assert.deepEqual((await reader.step()).ids, [second.ids[0]]);
            // Becomes visible before what was given last, while the reader stands among those that came late
            const later = await begin(1);
            await first.commit();
            assert.deepEqual(await reader.step(), { ids: [first.ids[0]], hasNextPage: true });
            const last = await book();
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
            const slow = await begin(2);
            const quick = [await book(), await book(), await book()];
            const { edges } = await read(followed, begun.cursor, 100, from());
            await slow.commit();
            for (const [index, { cursor }] of edges.entries()) {
              const expected = [...slow.ids, ...quick.slice(index + 1)];
              const page = await read(followed, cursor, 100, from());
              assert.deepEqual(
                page.edges.map(({ node }: any) => node.id),
                expected,
              );
              for (const [at, edge] of page.edges.entries()) {
                const rest = (await read(followed, edge.cursor, 100, from())).edges;
                assert.deepEqual(
                  rest.map(({ node }: any) => node.id),
                  expected.slice(at + 1),
                );
              }
            }
          });
        });
      }
    }

    it("a booking that stays open holds up nobody, and what it wrote in parts comes whole", async () => {
      const [reader] = [new Follower(lists[0]!, 2)];
      await reader.read();
      const slow = await begin();
      const ids = [...slow.ids];
      for (let hour = 0; hour < 5; hour++) {
        const booked = [await book(), await book(), await book()];
        assert.deepEqual(await reader.read(), booked);
        ids.push(...(await slow.add(1)));
      }
      await slow.commit();
      assert.deepEqual(await reader.read(), ids);
      assert.deepEqual(await reader.read(), []);
    });

    it("a booking that was undone is never shown, and leaves cursors as they were", async () => {
      const reader = new Follower(lists[0]!);
      await reader.read();
      const slow = await begin();
      const quick = await book();
      assert.deepEqual(await reader.read(), [quick]);
      await slow.rollback();
      assert.deepEqual(await reader.read(), []);
      assert.deepEqual(await reader.read(), []);
    });

    it("savepoints and exceptions in the transaction make no difference", async () => {
      const reader = new Follower(lists[0]!);
      await reader.read();
      const slow = await begin();
      const client = writers.at(-1)!;
      await client.query("savepoint a");
      const inside = await slow.add(1);
      await client.query("release a; savepoint b");
      await slow.add(1);
      await client.query("rollback to b");
      const quick = await book();
      assert.deepEqual(await reader.read(), [quick]);
      await slow.commit();
      assert.deepEqual(await reader.read(), [...slow.ids, ...inside]);
      assert.deepEqual(await reader.read(), []);
    });

    it("when the clock goes back, ids grow nevertheless", async () => {
      const reader = new Follower(lists[0]!);
      await reader.read();
      await shop.owner.query(
        `begin; alter table ledger.stock_movement disable trigger stock_movement_names_its_places;
         insert into ledger.stock_movement (id, product_id, quantity, source_location_type_technical_name,
           source_special_stock_location_technical_name, destination_location_type_technical_name, destination_special_stock_location_technical_name)
         select uuidv7(interval '1 hour'), id, 1, 'special_stock_location', 'import', 'special_stock_location', 'unknown' from erp.product limit 1;
         alter table ledger.stock_movement enable trigger stock_movement_names_its_places; commit`,
      );
      const [future, ...others] = await reader.read();
      assert.deepEqual(others, []);
      const booked = [await book(), await book(2, "nail")];
      assert.ok(future! < booked[0]! && booked[0]! < booked[1]!);
      assert.deepEqual(await reader.read(), booked);
      const lines = ["hall", "shed"].map((place) => ({
        productId: shop.id.hammer,
        place: { warehouseId: shop.id[place] },
        delta: 1,
      }));
      const { stockMovements } = await shop.mutate("stockAdjust", { lines });
      const ids = stockMovements.map(({ id }: any) => id);
      assert.deepEqual(ids, ids.toSorted());
      assert.deepEqual(await reader.read(), ids);
    });

    it("cursors are refused when what they say was tampered with, also of open transactions", async () => {
      const slow = await begin();
      const quick = await book();
      const cursor = encodeCursor("Query.stockMovements", quick.slice(-36), "~900.0.4-9.2");
      await read(lists[0]!, cursor);
      const refused = async (after: string, message?: RegExp) => {
        const variables = { first: 1, after, hall: shop.id.hall };
        const { body, codes } = await shop.ask(
          token,
          { query: lists[0]!.query, variables },
          { version: slug },
        );
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
        ["", [{ uuid: "ffffffff-ffff-ffff-ffff-ffffffffffff", open: "" }]],
        [
          "~1",
          Array.from({ length: 100 }, () => ({ uuid: "ffffffff-ffff-ffff-ffff-ffffffffffff", open: "~1" })),
        ],
      ] as [string, { uuid: string; open: string }[]][])
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
      assert.deepEqual((await shop.ask(token, { query }, { version: slug })).codes, ["CURSOR_INVALID"]);
      await slow.rollback();
    });

    it("cursors from before, which remember nothing, are still good", async () => {
      const [first, second] = [await book(), await book()];
      const { edges } = await read(lists[0]!, encodeCursor("Query.stockMovements", first.slice(-36)));
      assert.deepEqual(
        edges.map(({ node }: any) => node.id),
        [second],
      );
    });

    it("ids that are made elsewhere are refused", async () => {
      await assert.rejects(
        shop.owner.query(
          "insert into ledger.stock_movement (id, product_id, quantity, source_location_type_technical_name, source_special_stock_location_technical_name, destination_location_type_technical_name, destination_special_stock_location_technical_name) select uuidv7(), id, 1, 'special_stock_location', 'import', 'special_stock_location', 'unknown' from erp.product limit 1",
        ),
        { message: /The ledger gives movements their ids/, constraint: "stock_movement_id_is_given" },
      );
    });
  });
}

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
    await assertBooksAreRight(shop);
  });

  it("are also given to a movement that went before it had one", async () => {
    await shop.owner.query("insert into erp.product (product_number) values ('brief')");
    await shop.owner.query(insertMovement, ["brief"]);
    await shop.owner.query("delete from erp.product where product_number = 'brief'");
    const [next] = await book("hammer");
    await sequence(shop.owner);
    assert.deepEqual(await numbered({ sequence: { gt: 11 } }), [[next, 13]]);
    await assertBooksAreRight(shop);
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
