import assert from "node:assert/strict";
import type { Random } from "../../lib/random.ts";
import { micro } from "../../model/money.ts";
import { sum } from "./accounts.ts";
import type { Merchant } from "./merchant.ts";
import { nodes } from "./merchant.ts";
import { Purchases } from "./purchases.ts";
import type { Purchase } from "./purchases.ts";
import { Sales } from "./sales.ts";
import type { Order } from "./sales.ts";

const prices = { lamp: 59, chair: 129, cable: 9.5, tea: 12, honey: 8.9 };
export const products = Object.keys(prices);
const inBatches = ["tea", "honey"];
const today = (daysLater: number) => new Date(Date.now() + daysLater * 86_400_000).toISOString().slice(0, 10);

/** A month of a merchant with a hall, a shed and an attic, day by day; days are counted back from today. */
export class Story {
  readonly merchant: Merchant;
  readonly sales: Sales;
  readonly purchases: Purchases;
  readonly #random: Random;
  #onTheWay: { purchase: Purchase; daysAgo: number; part: number }[] = [];

  constructor(merchant: Merchant) {
    this.merchant = merchant;
    this.#random = merchant.random;
    this.sales = new Sales(merchant, prices);
    this.purchases = new Purchases(merchant);
  }

  /** The first day: everything is loaded, and what lies there is counted and valued. */
  async open(): Promise<void> {
    const { merchant } = this;
    const { id, accounts } = merchant;
    const found = await merchant.read(`{ currencies { edges { node { id isoCode } } } }`);
    for (const one of nodes(found.currencies)) id[one.isoCode] = one.id;
    const name = { "en-GB": "Standard" };
    await this.#load("customerGroups", [{ technicalName: "standard", nameByLocale: name }], "technicalName");
    await this.#load("paymentMethods", [{ technicalName: "card", nameByLocale: name }], "technicalName");
    await this.#load("shippingMethods", [{ technicalName: "parcel", nameByLocale: name }], "technicalName");
    const channel = {
      countryIsoCode: "FR",
      currencyIsoCode: "EUR",
      customerGroupTechnicalName: "standard",
      paymentMethodTechnicalName: "card",
    };
    await this.#load(
      "salesChannels",
      ["Shop", "Market place"].map((technicalName) => ({
        ...channel,
        technicalName,
        nameByLocale: { "en-GB": technicalName },
      })),
      "technicalName",
    );
    await this.#load(
      "products",
      products.map((productNumber) => ({
        productNumber,
        name: productNumber,
        taxRate: 19,
        ...(inBatches.includes(productNumber) && { isBatchManaged: true, pickOrder: "first_expired" }),
      })),
      "productNumber",
    );
    await this.#load(
      "suppliers",
      ["lumen", "pacific", "alpen"].map((number) => ({ number, name: number })),
      "number",
    );
    await this.#load(
      "customers",
      [0, 1, 2].map((n) => ({
        customerNumber: `customer ${n}`,
        firstName: "Ada",
        lastName: `Martin ${n}`,
        email: `ada${n}@example.com`,
        salesChannelId: id.Shop,
      })),
      "customerNumber",
    );
    await this.#load(
      "warehouses",
      [
        { code: "hall", name: "Hall", isDefault: true, isDefaultReceiving: true },
        { code: "shed", name: "Shed" },
        { code: "attic", name: "Attic", isStockAvailableForSale: false },
      ],
      "code",
    );
    for (const [position, warehouse] of ["hall", "shed", "attic"].entries()) {
      accounts.places.set(warehouse, { warehouse, position: 999, isSellable: true });
      if (position < 2) accounts.selling.add(warehouse);
    }
    for (const [code, position] of [
      ["A-1", 1],
      ["A-2", 2],
      ["A-3", 3],
      ["Q-1", 4],
    ] as const)
      await this.#addBin("hall", code, position);
    for (const code of ["B-1", "B-2"]) await this.#addBin("shed", code, Number(code.slice(2)));
    const { locations } = await merchant.read("{ locations { edges { node { id warehouse { code } } } } }");
    const locationOf = (code: string) =>
      nodes(locations).find(({ warehouse }) => warehouse?.code === code).id;
    await merchant.call("sourcingRulesSet", {
      rules: ["priority"],
      locationIds: ["hall", "shed"].map(locationOf),
    });

    await this.#addBatch("tea", "T1", 200);
    await this.#addBatch("honey", "H1", 300);
    await this.#count([
      ["lamp", "A-1", 24, "31.50"],
      ["lamp", "B-1", 10, "31.50"],
      ["chair", "A-2", 12, "64"],
      ["cable", "A-3", 80, "2.1"],
      ["cable", "shed", 40, "2.1"],
      ["tea", "A-1", 30, "5.2", "T1"],
      ["tea", "B-2", 20, "5.2", "T1"],
      ["honey", "A-2", 25, "3.75", "H1"],
    ]);
  }

  async #load(resource: string, rows: Record<string, any>[], key: string): Promise<void> {
    const { results } = await this.merchant.call(
      `${resource}Upsert`,
      { [resource]: rows },
      "results { id outcome }",
    );
    for (const [n, { id, outcome }] of results.entries()) {
      assert.equal(outcome, "CREATED");
      this.merchant.id[rows[n]![key]] = id;
    }
  }
  async #addBin(warehouse: string, code: string, position: number): Promise<void> {
    const { id, accounts } = this.merchant;
    const isSellable = !code.startsWith("Q");
    const { binLocation } = await this.merchant.call(
      "binLocationCreate",
      { warehouseId: id[warehouse], code, position, ...(!isSellable && { stockState: "quality_control" }) },
      "binLocation { id }",
    );
    id[code] = binLocation.id;
    accounts.places.set(code, { warehouse, position, isSellable });
  }
  async #addBatch(product: string, number: string, days: number): Promise<void> {
    const bestBefore = today(days);
    await this.#load("batches", [{ productNumber: product, number, bestBeforeDate: bestBefore }], "number");
    this.merchant.accounts.lots.set(number, { bestBefore, isHeld: false });
  }

  /** Counts what lies there on the first day, and says what a unit cost. */
  async #count(
    lines: [product: string, place: string, units: number, cost: string, batch?: string][],
  ): Promise<void> {
    const { merchant } = this;
    const { id, accounts } = merchant;
    const { stockMovements } = await merchant.call(
      "stockSet",
      {
        lines: lines.map(([product, place, quantity, , batch]) => ({
          productId: id[product],
          place: merchant.place(place),
          quantity,
          ...(batch && { batchId: id[batch] }),
        })),
        reference: "opening",
      },
      "stockMovements { id }",
    );
    await merchant.endDay();
    await merchant.call("stockOpeningValuesSet", {
      lines: stockMovements.map((movement: any, n: number) => ({
        stockMovementId: movement.id,
        unitValue: lines[n]![3],
      })),
    });
    for (const [product, place, units, cost, batch] of lines) {
      accounts.bring(product, place, units, batch);
      accounts.worthOf(product).bring(units, micro(cost) * BigInt(units));
    }
  }

  /** Any day: goods arrive, storefronts hand over orders, parcels go. */
  async trade(daysAgo: number): Promise<void> {
    for (const { purchase, part } of this.#onTheWay.filter((one) => one.daysAgo === daysAgo))
      await this.#unload(purchase, part);
    for (const channel of daysAgo % 3 === 0 ? ["Shop", "Market place"] : ["Shop"]) await this.#sell(channel);
    await this.#ship();
    if (daysAgo % 5 === 3) await this.#buy(daysAgo);
  }

  async #sell(channel: string): Promise<void> {
    const random = this.#random;
    const wanted = Array.from({ length: this.merchant.some(3) }, () =>
      [...new Set([random.oneOf(products), random.oneOf(products)])].map((product): [string, number] => [
        product,
        this.merchant.some(product === "cable" ? 6 : 3),
      ]),
    );
    for (const order of await this.sales.take(channel, wanted)) await this.sales.plan(order);
  }

  /** Ships what can be shipped: now and then only a part, and the rest another day. */
  async #ship(): Promise<void> {
    for (const order of this.sales.orders)
      for (const assignment of order.assignments) {
        const open = sum(assignment.lines, (line) => line.open);
        if (open === 0 || !this.sales.canShip(assignment)) continue;
        const isPart = open > 2 && this.#random.below(4) === 0;
        await this.sales.ship(order, assignment, isPart ? () => 1 : undefined);
      }
  }

  /** Orders from each supplier in turn, in its currency; it arrives in two parts. */
  async #buy(daysAgo: number): Promise<void> {
    const n = this.purchases.orders.length % 3;
    const [supplier, currency] = [
      ["lumen", "EUR"],
      ["pacific", "USD"],
      ["alpen", "CHF"],
    ][n] as [string, string];
    const wanted: [string, number, string][] = [
      [
        ["lamp", 20, "30.25"],
        ["cable", 60, "2.35"],
      ],
      [
        ["chair", 10, "81.30"],
        ["tea", 40, "6.85"],
      ],
      [
        ["honey", 30, "3.55"],
        ["tea", 20, "5.05"],
      ],
    ][n] as [string, number, string][];
    const purchase = await this.purchases.order(supplier, currency, wanted);
    if (daysAgo > 2) this.#onTheWay.push({ purchase, daysAgo: daysAgo - 2, part: 1 });
    if (daysAgo > 4) this.#onTheWay.push({ purchase, daysAgo: daysAgo - 4, part: 2 });
  }

  async #unload(purchase: Purchase, part: number): Promise<void> {
    const { accounts } = this.merchant;
    const arrivals = purchase.lines.map(({ product, quantity, received }, line) => {
      const units = part === 1 ? Math.ceil(quantity / 2) : quantity - received;
      const batch = inBatches.includes(product)
        ? `${product}-${this.purchases.orders.indexOf(purchase) + 1}-${part}`
        : undefined;
      return { line, units, place: this.#random.oneOf(["A-1", "A-2", "A-3"]), ...(batch && { batch }) };
    });
    for (const { batch, line } of arrivals)
      if (batch) await this.#addBatch(purchase.lines[line]!.product, batch, 150 + 10 * accounts.lots.size);
    await this.purchases.receive(purchase, arrivals);
  }

  /** Whether a batch is one of a product. */
  isOf(batch: string, product: string): boolean {
    return this.merchant.accounts.piles.some((pile) => pile.batch === batch && pile.product === product);
  }

  /** An order that is wholly shipped, and of which nothing came back. */
  shipped(): Order {
    const order = this.sales.orders.find(
      (one) =>
        !one.isCancelled && one.lines.every((line) => line.shipped === line.quantity && line.returned === 0),
    );
    assert.ok(order, "no order is shipped");
    return order;
  }
}
