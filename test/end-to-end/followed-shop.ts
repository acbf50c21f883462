import assert from "node:assert/strict";
import pg from "pg";
import { versions } from "../../src/versions/versions.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop } from "../lib/shop.ts";

/** A list, and the query for its page. */
export interface FollowedList {
  name: string;
  query: string;
  page(data: any): any;
}

const fields = "edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
const list = (name: string, before: string, behind = "", filter = ""): FollowedList => ({
  name,
  query: `query ($first: Int, $after: String, $hall: ID!) { ${before}(first: $first, after: $after${filter}) { ${fields} } ${behind} ok: warehouse(id: $hall) { id } }`,
  page: (data) => data.page ?? data.parent.page,
});

export const followedLists = [
  list("all movements", "page: stockMovements"),
  list(
    "movements with a filter",
    "page: stockMovements",
    "",
    ", filter: { destinationWarehouseId: { equals: $hall } }",
  ),
  list("movements into a warehouse", "parent: warehouse(id: $hall) { page: destinationStockMovements", "}"),
];

/** The paths of reads. */
type Reader = Pick<Shop, "ask">;

/** A client that reads a list, page by page, and continues later. */
export class ListFollower {
  readonly seen: string[] = [];
  cursor: string | null = null;
  readonly #readPage: (after: string | null, first: number) => Promise<any>;
  readonly #first: number;

  constructor(readPage: (after: string | null, first: number) => Promise<any>, first: number) {
    this.#readPage = readPage;
    this.#first = first;
  }

  /** Reads one page. */
  async step(): Promise<{ ids: string[]; hasNextPage: boolean }> {
    const { edges, pageInfo } = await this.#readPage(this.cursor, this.#first);
    const nothing = await this.#readPage(this.cursor, 0);
    assert.equal(nothing.pageInfo.hasNextPage, edges.length > 0, "first: 0 says whether there is more");
    assert.equal(pageInfo.hasPreviousPage, this.seen.length > 0);
    assert.equal(pageInfo.endCursor, edges.at(-1)?.cursor ?? null);
    const ids: string[] = edges.map(({ node }: any) => node.id);
    this.seen.push(...ids);
    this.cursor = pageInfo.endCursor ?? this.cursor;
    return { ids, hasNextPage: pageInfo.hasNextPage };
  }

  /** Reads to the end, and returns the new rows. */
  async read(): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const page = await this.step();
      ids.push(...page.ids);
      if (!page.hasNextPage) return ids;
    }
  }
}

/** A shop whose movements are followed in one version, by both executors, while bookings stay open. */
export class FollowedShop {
  readonly shop: Shop;
  readonly byGrafast: Reader;
  readonly #token: string;
  readonly #version: string;
  readonly #writers: pg.Client[] = [];

  constructor(shop: Shop, byGrafast: Reader, token: string, version: string) {
    this.shop = shop;
    this.byGrafast = byGrafast;
    this.#token = token;
    this.#version = version;
  }

  static async open(slug: string): Promise<FollowedShop> {
    const served = versions.filter((version) => version.slug === slug || version.slug === "unstable");
    const shop = await openShop({ versions: served });
    const byGrafast = await shop.another({ versions: served, settings: { fastReads: false } });
    return new FollowedShop(shop, byGrafast, await shop.token(), slug);
  }

  close(): Promise<void> {
    return this.shop.close();
  }

  /** Sends a query in the version. */
  ask(query: string, variables: object, from: Reader = this.shop) {
    return from.ask(
      this.#token,
      { query, variables: { hall: this.shop.id.hall, ...variables } },
      { version: this.#version },
    );
  }

  /** A page of a list. */
  async read({ query, page }: FollowedList, after: string | null, first = 100, from?: Reader): Promise<any> {
    const { body, text } = await this.ask(query, { first, after }, from);
    assert.equal(body.errors, undefined, text);
    return page(body.data);
  }

  follower(list: FollowedList, first = 100, from?: Reader): ListFollower {
    return new ListFollower((after, size) => this.read(list, after, size, from), first);
  }

  /** Books over HTTP, and returns the movement's id. */
  async book(quantity = 1, product = "hammer"): Promise<string> {
    const { id } = this.shop;
    const lines = [{ productId: id[product], place: { warehouseId: id.hall }, delta: quantity }];
    const { stockMovements, userErrors } = await this.shop.mutate("stockAdjust", { lines });
    assert.deepEqual(userErrors, []);
    return stockMovements[0].id;
  }

  /** Begins a booking of a separate product in SQL, and leaves it open. */
  async begin(count = 1) {
    const client = new pg.Client({ connectionString: this.shop.ownerUrl });
    this.#writers.push(client);
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
        [made[0].id, this.shop.id.hall!.slice(-36), more],
      );
      return rows.map(({ id }) => `gid://service/StockMovement/${id}`);
    };
    return {
      client,
      ids: await add(count),
      add,
      commit: () => client.query("commit"),
      rollback: () => client.query("rollback"),
    };
  }

  /** Ends open transactions. */
  async endBookings(): Promise<void> {
    await Promise.all(this.#writers.splice(0).map((writer) => writer.end()));
  }
}
