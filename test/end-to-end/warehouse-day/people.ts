import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../../lib/random.ts";
import { seed } from "../../lib/seed.ts";
import type { TestProcess } from "../../lib/service.ts";
import type { ShopOrder, ShippingShop } from "../../lib/shipping-shop.ts";
import type { Move } from "./reality.ts";
import { Gate, Reality } from "./reality.ts";
import type { Task } from "./tasks.ts";
import { products } from "./tasks.ts";

interface Count {
  product: string;
  place: string;
  quantity: number;
  /** To the microsecond. */
  countedAt: string;
}

const movementFields =
  "stockMovements { id quantity product { productNumber } sourceLocationTypeTechnicalName destinationLocationTypeTechnicalName " +
  "sourceBinLocation { code } sourceWarehouse { code } destinationBinLocation { code } destinationWarehouse { code } }";

const leastTasks = 500;

/** Allowed refusals: there are too few goods, or someone else was faster. */
const acceptable = new Set(["INSUFFICIENT_STOCK", "INVALID_STATE_TRANSITION"]);

/** People who move goods, book their moves, and find other changes by counting. */
export class People {
  readonly reality = new Reality();
  /** Ids of the movements in answers. */
  readonly told = new Set<string>();
  /** How often each task was done, refused, or repeated. */
  readonly outcomes: Record<string, number> = {};
  readonly #shop: ShippingShop;
  readonly #orders: ShopOrder[];
  readonly #process: TestProcess;
  readonly #gate = new Gate();
  readonly #unsent: Count[] = [];
  readonly #fulfillments: string[] = [];
  readonly #random = new Random(seed);
  #calls = 0;

  constructor(shop: ShippingShop, orders: ShopOrder[], process: TestProcess) {
    this.#shop = shop;
    this.#orders = orders;
    this.#process = process;
  }

  /**
   * Lets people take tasks from a list until it is over, but enough tasks to cover each kind; at the end all counts are
   * sent.
   */
  async run(tasks: Task[], people: number, isOver: () => boolean): Promise<void> {
    const queue = tasks.entries();
    const person = async () => {
      for (const [index, task] of queue) {
        if (isOver() && index >= leastTasks) return;
        await this.do(task);
      }
    };
    await Promise.all(Array.from({ length: people }, person));
    await Promise.all(this.#unsent.splice(0).map((count) => this.#send(count, 1)));
  }

  async do(task: Task): Promise<void> {
    switch (task.kind) {
      case "adjust": {
        const { product, place, delta, times } = task;
        const line = { productId: this.#id(product), place: this.#place(place), delta };
        const move = { product, quantity: delta, from: null, to: place };
        return this.#work([product], () => this.#book("stockAdjust", { lines: [line] }, times, [move]));
      }
      case "transfer": {
        const { product, from, to, quantity, times } = task;
        const way = { source: this.#place(from), destination: this.#place(to) };
        const line = { productId: this.#id(product), ...way, quantity };
        const move = { product, quantity, from, to };
        return this.#work([product], () => this.#book("stockTransfer", { lines: [line] }, times, [move]));
      }
      case "ship":
        return this.#work(products, () => this.#ship(this.#orders[task.order]!, task.times));
      case "takeBack": {
        const [id] = this.#fulfillments.splice(task.choice % (this.#fulfillments.length || 1), 1);
        if (id) return this.#work(products, () => this.#takeBack(id, task.times));
        return;
      }
      case "receive":
        return this.#work([task.product], () => this.#receive(task));
      case "count":
        return this.#gate.alone(task.product, () => this.#count(task));
      case "send": {
        const [count] = this.#unsent.splice(task.choice % (this.#unsent.length || 1), 1);
        if (count) await this.#send(count, task.times);
        return;
      }
      case "passingBin":
        return this.#work([task.product], () => this.#passBin(task.product, task.quantity));
    }
  }

  #work(needed: string[], task: () => Promise<void>): Promise<void> {
    return this.#gate.work(needed, task);
  }

  /** Sends a call, several times at once if told so, and then does in reality what it booked. */
  async #book(name: string, input: object, times: number, moves: Move[]): Promise<void> {
    if (await this.#mutate(name, input, times)) for (const move of moves) this.reality.move(move);
  }

  async #ship(order: ShopOrder, times: number): Promise<void> {
    const shipped = await this.#mutate(
      "orderShipmentComplete",
      { orderId: order.id },
      times,
      "fulfillments { id }",
    );
    if (!shipped) return;
    this.#carry(shipped.stockMovements);
    this.#fulfillments.push(...shipped.fulfillments.map(({ id }: any) => id));
  }

  async #takeBack(id: string, times: number): Promise<void> {
    const cancelled = await this.#mutate("fulfillmentCancel", { id }, times);
    if (cancelled) this.#carry(cancelled.stockMovements);
  }

  /** Moves goods as the service says, because it chooses the shelf that an order is picked from. */
  #carry(movements: any[]): void {
    for (const move of movements) {
      const from = move.sourceBinLocation?.code ?? move.sourceWarehouse?.code ?? null;
      const to = move.destinationBinLocation?.code ?? move.destinationWarehouse?.code ?? null;
      this.reality.move({ product: move.product.productNumber, quantity: move.quantity, from, to });
    }
  }

  async #receive(task: Task & { kind: "receive" }): Promise<void> {
    const { product, place, quantity, disposal, isOrdered } = task;
    const goods = { productId: this.#id(product), quantity };
    let reference = {};
    if (isOrdered) {
      const line = { ...goods, quantity: Math.ceil(quantity / 2), unitPrice: 2 };
      const order = { supplierId: this.#id("acme"), lineItems: [line] };
      const { supplierOrder } = await this.#mutate("supplierOrderCreate", order, 1, "supplierOrder { id }");
      await this.#mutate("supplierOrderConfirm", { id: supplierOrder.id }, 1, "supplierOrder { id }");
      // Twice as much arrives as was ordered, or one less
      reference = { supplierOrderId: supplierOrder.id };
    }
    const line = {
      ...goods,
      ...reference,
      plannedDisposalQuantity: disposal,
      destinationBinLocationId: this.#id(place),
    };
    const draft = { type: isOrdered ? "Supplier" : "Free", lineItems: [line] };
    const { goodsReceipt } = await this.#mutate("goodsReceiptCreate", draft, 1, "goodsReceipt { id }");
    await this.#mutate("goodsReceiptApprove", { id: goodsReceipt.id }, 1);
    await this.#book("goodsReceiptComplete", { id: goodsReceipt.id }, 1, [
      { product, quantity: quantity - disposal, from: null, to: place },
    ]);
  }

  /** Counts while no one moves the product, and finds unnoticed changes. Reported later. */
  async #count({ product, place, unnoticed }: Task & { kind: "count" }): Promise<void> {
    const quantity = Math.max(unnoticed, -this.reality.at(product, place));
    this.reality.move({ product, quantity, from: null, to: place });
    const text = `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') as moment`;
    const [{ moment }] = await this.#shop.sql(text);
    this.#unsent.push({ product, place, quantity: this.reality.at(product, place), countedAt: moment });
  }

  async #send({ product, place, quantity, countedAt }: Count, times: number): Promise<void> {
    const line = { productId: this.#id(product), place: this.#place(place), quantity, countedAt };
    const done = await this.#mutate("stockSet", { lines: [line] }, times);
    assert.ok(done, `The count of ${quantity} at ${countedAt} was refused.`);
  }

  /**
   * Uses a bin for a short time, from which nothing is picked. A call with a key gets the same answer after the bin is
   * gone.
   */
  async #passBin(product: string, quantity: number): Promise<void> {
    const code = `T-${++this.#calls}`;
    const made = await this.#mutate(
      "binLocationCreate",
      { code, warehouseId: this.#id("shed") },
      1,
      "binLocation { id }",
    );
    const { id } = made.binLocation;
    const change = (delta: number) => ({
      lines: [{ productId: this.#id(product), place: { binLocationId: id }, delta }],
      idempotencyKey: `${code} ${delta}`,
    });
    const booked = [await this.#mutate("stockAdjust", change(quantity), 1)];
    booked.push(await this.#mutate("stockAdjust", change(-quantity), 1));
    await this.#mutate("binLocationDelete", { id }, 1, "deletedBinLocationId");
    const again = [await this.#mutate("stockAdjust", change(quantity), 1)];
    again.push(await this.#mutate("stockAdjust", change(-quantity), 1));
    const ids = (payloads: any[]) => payloads.map(({ stockMovements }) => stockMovements[0].id);
    assert.deepEqual(ids(again), ids(booked));
  }

  /** Repeats a call with a key until it is answered. Null when it was refused. */
  async #mutate(name: string, input: object, times: number, select = ""): Promise<any> {
    const body = { idempotencyKey: `call ${++this.#calls}`, ...input };
    const fields = /^(stock|order|fulfillment|goodsReceipt(Approve|Complete))/.test(name)
      ? movementFields
      : "";
    const answers = await Promise.all(
      Array.from({ length: times }, () => this.#sendUntilAnswered(name, body, `${select} ${fields}`)),
    );
    const done = answers.find(({ userErrors }) => userErrors.length === 0);
    const outcome = done ? "done" : "refused";
    this.outcomes[`${name} ${outcome}`] = (this.outcomes[`${name} ${outcome}`] ?? 0) + 1;
    for (const { stockMovements = [], userErrors } of answers) {
      for (const { code, message } of userErrors)
        assert.ok(acceptable.has(code), `${name}: ${code}, ${message} ${JSON.stringify(input)}`);
      for (const { id } of stockMovements) this.told.add(id.slice(-36));
    }
    return done ?? null;
  }

  async #sendUntilAnswered(name: string, input: object, select: string): Promise<any> {
    for (let attempt = 1; attempt <= 60; attempt++) {
      const { body, text } = await this.#shop.tryMutate(name, input, { select, process: this.#process });
      const { data, errors } = body;
      if (!errors) return data[name];
      const codes = errors.map(({ extensions }: any) => extensions.code);
      assert.ok(!codes.includes("INTERNAL_SERVER_ERROR") && !codes.includes("BAD_USER_INPUT"), text);
      this.outcomes["sent again"] = (this.outcomes["sent again"] ?? 0) + 1;
      await sleep(this.#random.between(0, 40)); // As clients do, not all at the same time
    }
    throw new Error(`${name} had no answer after 60 attempts.`);
  }

  #id(name: string): string {
    return this.#shop.id[name]!;
  }

  #place(place: string): object {
    return place.includes("-") ? { binLocationId: this.#id(place) } : { warehouseId: this.#id(place) };
  }
}
