import { gid } from "../lib/ids.ts";
import type { Row } from "./facts.ts";
import { isOpen } from "./facts.ts";
import { WarehouseWork } from "./warehouse-work.ts";

/** Sells and promises, divides what is to be shipped, and ships it. */
export class Sales extends WarehouseWork {
  // Orders

  async order(): Promise<void> {
    const open = this.one(this.books.facts.orders, ({ state }) => ["open", "in_progress"].includes(state));
    if (open && this.chance(4)) return await this.changeOrder(open);
    const lineItems = Array.from({ length: this.some(3) }, (_, position) => {
      const { id } = this.product();
      return {
        productId: gid("Product", id),
        quantity: this.some(6),
        label: "x",
        identifier: `${position}`,
        position,
        unitPrice: 3,
        taxRate: 19,
      };
    });
    const orderNumber = `N-${++this.number}`;
    const currencyId = this.shop.id.EUR;
    await this.call("ordersUpsert", {
      orders: [{ orderNumber, currencyId, lineItems, shippingAddress: { countryIso: "DE" } }],
    });
  }
  async changeOrder({ id }: Row): Promise<void> {
    const lines = this.books.facts.lines.filter((line) => line.order === id);
    const kept = lines
      .filter(() => !this.chance(6))
      .map((line) => ({
        id: gid("OrderLineItem", line.id),
        ...(this.chance(10) && { productId: gid("Product", this.product().id) }),
        quantity: this.chance(2)
          ? line.quantity
          : Math.max(1, line.shipped, line.quantity + this.random.below(7) - 4),
      }));
    const { id: productId } = this.product();
    const added = {
      productId: gid("Product", productId),
      quantity: this.some(4),
      label: "more",
      identifier: `m${++this.number}`,
      unitPrice: 3,
    };
    await this.call("ordersUpsert", {
      orders: [{ id: gid("Order", id), lineItems: this.chance(3) ? [...kept, added] : kept }],
    });
  }
  async endOrReopen(): Promise<void> {
    const order = this.one(this.books.facts.orders);
    if (order)
      await this.call(this.chance(2) ? "orderCancel" : "orderReopen", { id: gid("Order", order.id) });
  }
  async ship(): Promise<void> {
    const order = this.one(
      this.books.facts.orders,
      ({ state }) => ["open", "in_progress"].includes(state) || this.chance(30),
    );
    if (!order) return;
    const warehouseId = this.chance(3) ? gid("Warehouse", this.warehouse().id) : undefined;
    await this.call("orderShipmentComplete", { orderId: gid("Order", order.id), warehouseId });
  }
  async assign(): Promise<void> {
    const { facts } = this.books;
    const line = this.one(facts.lines, (one) => this.books.uncovered(one) > 0) ?? this.one(facts.lines);
    if (!line) return;
    const orderId = gid("Order", line.order);
    const warehouseId = gid("Warehouse", this.warehouse().id);
    const lines = [
      { orderLineItemId: gid("OrderLineItem", line.id), quantity: this.some(this.books.uncovered(line)) },
    ];
    const more = this.random.oneOf([{}, {}, { warehouseId }, { warehouseId, lines }]);
    await this.call("fulfillmentOrderCreate", { orderId, ...more });
  }
  async handle(): Promise<void> {
    const { facts } = this.books;
    const one = this.one(facts.fulfillmentOrders, (some) => isOpen(some) || this.chance(20));
    if (!one) return;
    const id = gid("FulfillmentOrder", one.id);
    const its = facts.assigned.filter(
      ({ owner, quantity, fulfilled }) => owner === one.id && quantity > fulfilled,
    );
    const part = this.one(its);
    const lines = part && [
      {
        fulfillmentOrderLineItemId: gid("FulfillmentOrderLineItem", part.id),
        quantity: this.some(part.quantity - part.fulfilled),
      },
    ];
    const warehouseId = gid("Warehouse", this.warehouse().id);
    const inputs: Record<string, object> = {
      fulfillmentOrderMove: this.random.oneOf([{ id }, { id, warehouseId }, { id, warehouseId, lines }]),
      fulfillmentOrderSplit: { id, lines: lines ?? [] },
      fulfillmentOrderHold: { id },
      fulfillmentOrderReleaseHold: { id },
      fulfillmentOrderStart: { id },
      fulfillmentOrderCancel: { id },
      fulfillmentCreate: { fulfillmentOrderId: id, lines },
    };
    const often = ["fulfillmentOrderMove", "fulfillmentOrderSplit", "fulfillmentCreate", "fulfillmentCreate"];
    const name = this.random.oneOf([...Object.keys(inputs), ...often]);
    if (lines || !/Split|Create/.test(name)) await this.call(name, inputs[name]!);
  }
  async cancelShipment(): Promise<void> {
    const shipped = this.one(this.books.facts.shipped, ({ state }) => state === "Fulfilled");
    if (shipped) await this.call("fulfillmentCancel", { id: gid("Fulfillment", shipped.fulfillment) });
  }
  async source(): Promise<void> {
    const rules = this.random.oneOf([
      [],
      ["priority", "fullest"],
      ["split_least"],
      ["do_not_split", "fullest"],
      ["fullest"],
      ["same_country"],
    ]);
    const { rows } = await this.shop.owner.query("select id from erp.location order by name");
    const locationIds = [gid("Location", this.random.oneOf(rows as Row[]).id)];
    await this.call("sourcingRulesSet", { rules, ...(rules.includes("priority") && { locationIds }) });
  }

  // Promises

  async reserve(): Promise<void> {
    const { facts } = this.books;
    const lines = Array.from({ length: this.some(2) }, () => {
      const line = this.chance(2) ? this.one(facts.lines, (one) => this.books.uncovered(one) > 0) : undefined;
      const pile = this.chance(6) ? undefined : this.pile();
      const product = line
        ? this.books.row(line.product)
        : pile
          ? this.books.row(pile.product)
          : this.product();
      const isThere = pile?.product === product.id;
      return {
        productId: gid("Product", product.id),
        place: isThere && this.chance(2) ? this.placeOf(pile!) : this.place(),
        batchId:
          isThere && this.chance(2) ? this.idOf(pile!.batch) : this.chance(3) ? this.batchOf(product) : null,
        quantity: this.some(line ? this.books.uncovered(line) : 6),
        ...(line && { orderLineItemId: gid("OrderLineItem", line.id) }),
      };
    });
    const expiresAt = this.chance(2) ? "2098-01-01T00:00:00Z" : undefined;
    await this.call("stockReserve", { lines, expiresAt });
  }
  async endPromise(): Promise<void> {
    const { facts } = this.books;
    const one = this.one(facts.reservations, ({ open }) => open > 0 || this.chance(20));
    if (!one) return;
    const what = this.random.below(4);
    if (what === 0)
      await this.sql(
        "update erp.stock_reservation set expires_at = now() - interval '1 second' where id = $1",
        one.id,
      );
    else if (what === 1) await this.sql("select ledger.expire_reservations()");
    else
      await this.call("stockRelease", {
        lines: [
          { id: gid("StockReservation", one.id), ...(this.chance(2) && { quantity: this.some(one.open) }) },
        ],
      });
  }
  async allowBackorders(): Promise<void> {
    await this.sql(
      "update erp.product set allows_backorders = $2 where id = $1",
      this.product().id,
      this.chance(3),
    );
  }
}
