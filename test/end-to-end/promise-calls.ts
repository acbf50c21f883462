import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../lib/random.ts";
import { read } from "../lib/service.ts";
import type { HttpAnswer } from "../lib/service.ts";

/** What one client knows of a reservation that it made. */
export interface Known {
  id: string;
  product: string;
  line: string | null;
  quantity: number;
  /** Units that it has released. */
  released: number;
  /** Whether its time ends during the test. */
  isShort: boolean;
}

/** The part of the shop that clients know. */
export interface World {
  token: string;
  /** Addresses of the processes. */
  urls: string[];
  products: string[];
  backordered: string;
  /** Of which nothing is ever taken away, so that nothing promised may be missing. */
  places: { warehouseId?: string; binLocationId?: string }[];
  orders: { id: string; line: string; product: string }[];
  warehouseId: string;
}

const selections: Record<string, string> = {
  stockReserve: "stockReservations { id }",
  stockRelease: "stockReservations { openQuantity state }",
  stockAdjust: "stockMovements { id }",
  orderShipmentComplete: "order { state }",
  fulfillmentOrderCreate: "fulfillmentOrder { id }",
};

/** What may be refused; anything else is a fault. */
const refusable = new Set([
  "INSUFFICIENT_STOCK",
  "OVER_FULFILLMENT",
  "INVALID_STATE_TRANSITION",
  "OUT_OF_RANGE",
  "NOT_FOUND",
]);

/** A client that sends one random call after the other, repeats those without an answer, and remembers what it got. */
export class PromiseClient {
  readonly known: Known[] = [];
  /** Units that it added, by product. */
  readonly added = new Map<string, number>();
  readonly counts: Map<string, number>;
  readonly #name: string;
  readonly #world: World;
  readonly #random: Random;

  constructor(name: string, seed: number, world: World, counts: Map<string, number>) {
    this.#name = name;
    this.#world = world;
    this.#random = new Random(seed);
    this.counts = counts;
  }

  async act(nth: number): Promise<void> {
    const key = `${this.#name}, call ${nth}`;
    const kind = this.#random.below(20);
    if (kind < 8) await this.#reserve(key);
    else if (kind < 11) await this.#reserveForLine(key);
    else if (kind < 16) await this.#release(key);
    else if (kind < 18) await this.#add(key);
    else if (kind < 19) await this.#send("orderShipmentComplete", { orderId: this.#order().id }, key);
    else {
      const { id, line } = this.#order();
      const lines = [{ orderLineItemId: line, quantity: 1 + this.#random.below(2) }];
      await this.#send(
        "fulfillmentOrderCreate",
        { orderId: id, warehouseId: this.#world.warehouseId, lines },
        key,
      );
    }
  }

  #order = () => this.#random.oneOf(this.#world.orders);

  async #reserve(key: string): Promise<void> {
    const { products, backordered, places } = this.#world;
    const isShort = this.#random.below(3) === 0;
    const lines = Array.from({ length: 1 + this.#random.below(3) }, () => ({
      productId: this.#random.below(8) === 0 ? backordered : this.#random.oneOf(products),
      place: this.#random.oneOf(places),
      quantity: 1 + this.#random.below(4),
    }));
    // The clock is moved by a day during the test
    const expiresAt = isShort ? new Date(Date.now() + 3_600_000).toISOString() : undefined;
    const payload = await this.#send("stockReserve", { lines, expiresAt }, key);
    for (const [index, { id }] of payload?.stockReservations.entries() ?? []) {
      const { productId: product, quantity } = lines[index]!;
      this.known.push({ id, product, line: null, quantity, released: 0, isShort });
    }
  }

  async #reserveForLine(key: string): Promise<void> {
    const { line, product } = this.#order();
    const place = this.#random.oneOf(this.#world.places);
    const quantity = 1 + this.#random.below(3);
    const lines = [{ productId: product, place, quantity, orderLineItemId: line }];
    const payload = await this.#send("stockReserve", { lines }, key);
    if (payload)
      this.known.push({
        ...payload.stockReservations[0],
        product,
        line,
        quantity,
        released: 0,
        isShort: false,
      });
  }

  async #release(key: string): Promise<void> {
    const open = this.known.filter(({ released, quantity }) => released < quantity);
    if (open.length === 0) return;
    const one = this.#random.oneOf(open);
    const left = one.quantity - one.released;
    const quantity = this.#random.below(2) === 0 ? undefined : 1 + this.#random.below(left);
    const payload = await this.#send("stockRelease", { lines: [{ id: one.id, quantity }] }, key);
    if (payload) one.released += quantity ?? left;
  }

  async #add(key: string): Promise<void> {
    const productId = this.#random.oneOf(this.#world.products);
    const delta = 1 + this.#random.below(3);
    const lines = [{ productId, place: this.#random.oneOf(this.#world.places), delta }];
    const payload = await this.#send("stockAdjust", { lines }, key);
    if (payload) this.added.set(productId, (this.added.get(productId) ?? 0) + delta);
  }

  /** Returns the payload, or null if the call was refused. Sends it again, to any process, until it has an answer. */
  async #send(name: string, input: object, key: string): Promise<any> {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
    const query = `mutation ($input: ${type}!) { ${name}(input: $input) { ${selections[name]} userErrors { code message } } }`;
    const body = JSON.stringify({ query, variables: { input: { ...input, idempotencyKey: key } } });
    for (let attempt = 1; attempt <= 200; attempt++) {
      const answer = await this.#post(body);
      if (answer !== null) {
        const { errors, data } = answer.body;
        if (!errors) return this.#judge(name, data[name]);
        for (const { extensions, path } of errors)
          assert.ok(extensions.retryable || path?.length > 1, `${key}: ${answer.text}`);
      }
      this.#count("again");
      await sleep(this.#random.between(5, 50));
    }
    throw new Error(`${key} had no answer after 200 attempts.`);
  }

  async #post(body: string): Promise<HttpAnswer | null> {
    try {
      const { token, urls } = this.#world;
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      const url = `${this.#random.oneOf(urls)}/api/graphql/unstable`;
      return await read(await fetch(url, { method: "POST", headers, body }));
    } catch {
      return null; // Its process was killed
    }
  }

  #judge(name: string, payload: any): any {
    const codes: string[] = payload.userErrors.map(({ code }: any) => code);
    this.#count(codes.length === 0 ? name : `${name} ${codes[0]}`);
    for (const code of codes) assert.ok(refusable.has(code), `${name}: ${JSON.stringify(payload)}`);
    return codes.length === 0 ? payload : null;
  }

  #count = (what: string) => this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
}
