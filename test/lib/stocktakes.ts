import assert from "node:assert/strict";
import type { MutateOptions, Shop } from "./shop.ts";

/** A position as the approver sees it. */
export interface Position {
  id: string;
  number: number;
  state: string;
  product: string | null;
  place: string;
  batch: string | null;
  isFound: boolean;
  expected: number;
  counted: number | null;
  difference: number | null;
  booked: number | null;
}

/** A sheet as the person with it sees it. */
export interface Sheet {
  id: string;
  number: number;
  round: number;
  openCount: number;
  completedAt: string | null;
  counts: { product: string | null; place: string; batch: string | null; quantity: number | null }[];
}

const placeFields =
  "product { productNumber } warehouse { code } binLocation { code } stockContainer { number } batch { number }";
const namesOf = ({ product, warehouse, binLocation, stockContainer, batch }: any) => ({
  product: product?.productNumber ?? null,
  place: stockContainer?.number ?? binLocation?.code ?? warehouse.code,
  batch: batch?.number ?? null,
});

/** Counts in a shop: `counter` may only count, `manager` may do everything else. */
export class Stocktakes {
  readonly shop: Shop;
  readonly counter: string;
  readonly manager: string;

  private constructor(shop: Shop, counter: string, manager: string) {
    this.shop = shop;
    this.counter = counter;
    this.manager = manager;
  }

  static async open(shop: Shop): Promise<Stocktakes> {
    const counter = await shop.token({
      read: ["products", "warehouses", "batches"],
      write: ["stocktakes"],
    });
    const manager = await shop.token({ read: "all", write: "all" });
    return new Stocktakes(shop, counter, manager);
  }

  create(input: object = {}, options: MutateOptions = {}): Promise<any> {
    const select = "stocktake { id number state }";
    const given = { warehouseId: this.shop.id.hall, ...input };
    return this.shop.mutate("stocktakeCreate", given, { token: this.manager, select, ...options });
  }

  /** Creates a stocktake that must be accepted, and returns its id. */
  async make(input: object = {}): Promise<string> {
    const { userErrors, stocktake } = await this.create(input);
    assert.deepEqual(userErrors, []);
    return stocktake.id;
  }

  /** Makes a line of a sheet. */
  line(place: string, product: string | null, quantity: number | null, more: object = {}): object {
    const { id } = this.shop;
    return {
      place: place.includes("-") ? { binLocationId: id[place] } : { warehouseId: id[place] },
      ...(product === null ? { isEmpty: true } : { productId: id[product], quantity }),
      ...more,
    };
  }

  submit(
    sheetId: string,
    counterName: string,
    lines: object[],
    more: object = {},
    options: MutateOptions = {},
  ) {
    const select = "stocktakeSheet { openCount completedAt } warnings { code field }";
    const input = { sheetId, counterName, lines, ...more };
    return this.shop.mutate("stocktakeSheetSubmit", input, { token: this.counter, select, ...options });
  }

  approve(id: string, input: object = {}, options: MutateOptions = {}) {
    const select =
      "stocktake { state approvedAt } approvedCount remainingCount warnings { code field details }";
    return this.shop.mutate(
      "stocktakeApprove",
      { id, ...input },
      { token: this.manager, select, ...options },
    );
  }

  recount(id: string, input: object = {}) {
    const select = "stocktakeSheet { id round }";
    return this.shop.mutate("stocktakeRecount", { id, ...input }, { token: this.manager, select });
  }

  cancel(id: string, options: MutateOptions = {}) {
    const select = "stocktake { state }";
    return this.shop.mutate("stocktakeCancel", { id }, { token: this.manager, select, ...options });
  }

  /** The stocktake's state and progress. */
  async state(id: string): Promise<{ state: string; progress: object }> {
    const query = `query ($id: ID!) { stocktake(id: $id) { state
      progress { sheetCount completedSheetCount openCount } } }`;
    return (await this.#ask(this.counter, query, { id })).stocktake;
  }

  async sheets(id: string, token = this.counter): Promise<Sheet[]> {
    const query = `query ($id: ID!) { stocktake(id: $id) { sheets { edges { node { id number round openCount
      completedAt counts(first: 250) { edges { node { quantity ${placeFields} } } } } } } } }`;
    const { stocktake } = await this.#ask(token, query, { id });
    return stocktake.sheets.edges.map(({ node: { counts, ...sheet } }: any) => ({
      ...sheet,
      counts: counts.edges.map(({ node }: any) => ({ ...namesOf(node), quantity: node.quantity })),
    }));
  }

  async positions(id: string): Promise<Position[]> {
    const query = `query ($id: ID!) { stocktake(id: $id) { lines(first: 250) { edges { node { id number state isFound
      expectedQuantity countedQuantity difference bookedDifference ${placeFields} } } } } }`;
    const { stocktake } = await this.#ask(this.manager, query, { id });
    return stocktake.lines.edges.map(({ node }: any) => ({
      ...namesOf(node),
      id: node.id,
      number: node.number,
      state: node.state,
      isFound: node.isFound,
      expected: node.expectedQuantity,
      counted: node.countedQuantity,
      difference: node.difference,
      booked: node.bookedDifference,
    }));
  }

  /** Fails on errors. */
  async #ask(token: string, query: string, variables: object): Promise<any> {
    const { body, text } = await this.shop.ask(token, { query, variables });
    assert.equal(body.errors, undefined, text);
    return body.data;
  }
}
