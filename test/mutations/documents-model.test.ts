import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";
import type { ShopOrder, OrderLine, ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// Random shipments, cancellations and documents of orders, against a model: invoices less what takes them back come to
// what was shipped and charged, and in the end each order can be shipped and invoiced. DOCUMENT_ORDERS says how many.
const count = Number(process.env.DOCUMENT_ORDERS ?? 8);
const steps = 14;
const random = new Random(seed);

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
  for (const product of ["nail", "hammer"]) await shop.store(product, "A-1", 1_000_000);
});
after(() => shop.close());

interface Parcel {
  id: string;
  units: number[];
  isCancelled: boolean;
}
interface Invoice {
  id: string;
  /** Charged units of goods, and whether lines without goods are charged. */
  units: number[];
  hasServices: boolean;
  amount: number;
  parcels: Parcel[];
  takenBackBy: "credit_note" | "storno" | null;
}

/** An order as it should be: what was shipped, and what was charged for it. Amounts are cents. */
class Model {
  readonly goods: number[];
  readonly prices: number[];
  readonly services: number;
  readonly parcels: Parcel[] = [];
  readonly invoices: Invoice[] = [];
  made!: ShopOrder;

  constructor() {
    const isOfServices = random.below(6) === 0;
    this.goods = Array.from({ length: isOfServices ? 0 : 1 + random.below(3) }, () => 1 + random.below(6));
    this.prices = this.goods.map(() => 1 + random.below(9_999));
    this.services = isOfServices || random.below(2) ? 1 + random.below(999) : 0;
  }

  get lines(): OrderLine[] {
    const goods = this.goods.map((quantity, n) => ({
      product: n % 2 ? "hammer" : "nail",
      quantity,
      price: this.prices[n]! / 100,
      taxRate: 19,
    }));
    const service = { quantity: 1, type: "shipping", price: this.services / 100, taxRate: 19 };
    return this.services ? [...goods, service] : goods;
  }

  /** Units of each line that some parcels have. */
  unitsOf(parcels: Parcel[]): number[] {
    return this.goods.map((_, n) => parcels.reduce((sum, { units }) => sum + units[n]!, 0));
  }

  get sent(): Parcel[] {
    return this.parcels.filter(({ isCancelled }) => !isCancelled);
  }
  get open(): number[] {
    const shipped = this.unitsOf(this.sent);
    return this.goods.map((quantity, n) => quantity - shipped[n]!);
  }
  /** Invoices that charge their units, whether they were credited or not. */
  get standing(): Invoice[] {
    return this.invoices.filter(({ takenBackBy }) => takenBackBy !== "storno");
  }
  get uninvoiced(): Parcel[] {
    return this.sent.filter((parcel) => !this.standing.some(({ parcels }) => parcels.includes(parcel)));
  }
  get balance(): number {
    return this.invoices.reduce((sum, { takenBackBy, amount }) => sum + (takenBackBy ? 0 : amount), 0);
  }

  /** The invoice over some parcels, or null when there is nothing to charge. */
  charge(parcels: Parcel[]): Invoice | null {
    const hasServices =
      this.services > 0 &&
      (this.sent.length > 0 || this.goods.length === 0) &&
      !this.standing.some((invoice) => invoice.hasServices);
    const units = this.unitsOf(parcels);
    const amount =
      units.reduce((sum, quantity, n) => sum + quantity * this.prices[n]!, 0) +
      (hasServices ? this.services : 0);
    if (amount === 0) return null;
    const invoice: Invoice = { id: "", units, hasServices, amount, parcels, takenBackBy: null };
    this.invoices.push(invoice);
    return invoice;
  }

  /** @returns the types of documents that cancelling it makes */
  cancel(parcel: Parcel): string[] {
    parcel.isCancelled = true;
    const invoice = this.standing.find(({ parcels }) => parcels.includes(parcel));
    if (invoice === undefined) return [];
    if (invoice.takenBackBy === "credit_note") {
      parcel.units.forEach((quantity, n) => (invoice.units[n]! -= quantity));
      return [];
    }
    invoice.takenBackBy = "storno";
    const rest = invoice.parcels.filter(({ isCancelled }) => !isCancelled);
    return rest.length > 0 && this.charge(rest) ? ["storno", "invoice"] : ["storno"];
  }
}

const documents = "documents { id documentType { technicalName } config }";
const call = async (name: string, input: object, select: string) => {
  const payload = await shop.mutate(name, input, { select });
  const { userErrors } = payload;
  return { payload, codes: userErrors.map(({ code }: any) => code) as string[] };
};

/** Plays random steps of an order on the service and on the model. */
class Play {
  readonly model = new Model();
  readonly log: string[] = [];

  async begin(): Promise<void> {
    const { model } = this;
    const assignment = { lines: model.goods.map((quantity, n) => [n, quantity] as [number, number]) };
    model.made = await shop.order(model.lines, model.goods.length > 0 ? [assignment] : []);
  }

  note(invoice: Invoice | null, document: any): void {
    assert.ok(invoice, "nothing was to be charged");
    invoice.id = document.id;
    assert.equal(Math.round(document.config.totals.total * 100), invoice.amount);
  }

  async ship(): Promise<void> {
    const { model } = this;
    const units = model.open.map((open) => random.below(open + 1));
    if (units.every((quantity) => quantity === 0)) return;
    const [order] = model.made.fulfillmentOrders;
    const isInvoiced = random.below(2) === 0;
    const lines = units.flatMap((quantity, n) =>
      quantity > 0 ? [{ fulfillmentOrderLineItemId: order!.lines[n], quantity }] : [],
    );
    const { payload, codes } = await call(
      "fulfillmentCreate",
      { fulfillmentOrderId: order!.id, lines, documents: isInvoiced ? ["invoice"] : [] },
      `fulfillment { id } ${documents}`,
    );
    assert.deepEqual(codes, []);
    model.parcels.push({ id: payload.fulfillment.id, units, isCancelled: false });
    if (isInvoiced) this.note(model.charge(model.uninvoiced), payload.documents[0]);
  }

  async shipRest(): Promise<void> {
    const { model } = this;
    const wasDone = (await shop.stateOf(model.made)).state === "completed";
    const isInvoiced = random.below(2) === 0;
    const units = model.open;
    const { payload, codes } = await call(
      "orderShipmentComplete",
      { orderId: model.made.id, documents: isInvoiced ? ["invoice"] : [] },
      `fulfillments { id } ${documents}`,
    );
    if (wasDone) return assert.deepEqual(codes, ["INVALID_STATE_TRANSITION"]);
    const isSent = units.some((quantity) => quantity > 0);
    if (!isSent && isInvoiced && codes.length > 0) {
      assert.deepEqual([codes, model.charge(model.uninvoiced)], [["INVALID"], null]);
      return;
    }
    assert.deepEqual(codes, []);
    assert.equal(payload.fulfillments.length, isSent ? 1 : 0);
    if (isSent) model.parcels.push({ id: payload.fulfillments[0].id, units, isCancelled: false });
    if (isInvoiced) this.note(model.charge(model.uninvoiced), payload.documents[0]);
  }

  async cancel(): Promise<void> {
    const { model } = this;
    if (model.parcels.length === 0) return;
    const parcel = random.oneOf(model.parcels);
    const { payload, codes } = await call("fulfillmentCancel", { id: parcel.id }, documents);
    if (parcel.isCancelled) return assert.deepEqual(codes, ["INVALID_STATE_TRANSITION"]);
    assert.deepEqual(codes, []);
    const made = model.cancel(parcel);
    assert.deepEqual(
      payload.documents.map((document: any) => document.documentType.technicalName),
      made,
    );
    if (made.length === 2) this.note(model.invoices.at(-1)!, payload.documents[1]);
  }

  async invoice(isOfAll = random.below(2) === 0): Promise<void> {
    const { model } = this;
    const parcels = isOfAll ? null : model.parcels.filter(() => random.below(2));
    const { payload, codes } = await call(
      "documentCreate",
      { orderId: model.made.id, documentType: "invoice", fulfillmentIds: parcels?.map(({ id }) => id) },
      "document { id config }",
    );
    if (parcels?.length === 0) return assert.deepEqual(codes, ["REQUIRED"]);
    const refused = (parcels ?? []).filter((parcel) => !model.uninvoiced.includes(parcel));
    if (refused.length > 0) return assert.ok(codes.length > 0 && codes.every((code) => code === "INVALID"));
    const invoice = model.charge(parcels ?? model.uninvoiced);
    if (invoice === null) assert.deepEqual(codes, ["INVALID"]);
    else this.note(invoice, payload.document);
  }

  async takeBack(): Promise<void> {
    const { model } = this;
    const type = random.oneOf(["credit_note", "storno"] as const);
    const standing = model.invoices.filter(({ takenBackBy }) => takenBackBy === null);
    const invoice = model.invoices.length > 0 && random.below(3) ? random.oneOf(model.invoices) : null;
    const { payload, codes } = await call(
      "documentCreate",
      { orderId: model.made.id, documentType: type, referencedDocumentId: invoice?.id },
      "document { config }",
    );
    const wanted = invoice ?? (standing.length === 1 ? standing[0]! : null);
    if (wanted === null) return assert.deepEqual(codes, [standing.length > 1 ? "REQUIRED" : "INVALID"]);
    if (wanted.takenBackBy !== null) return assert.deepEqual(codes, ["INVALID"]);
    assert.deepEqual(codes, []);
    const sign = type === "credit_note" ? 1 : -1;
    assert.equal(Math.round(payload.document.config.totals.total * 100), sign * wanted.amount);
    wanted.takenBackBy = type;
  }

  /** What the service has of the order is what the model has. */
  async compare(): Promise<void> {
    const { model } = this;
    const lines = await shop.sql(
      "select shipped_quantity as shipped, invoiced_quantity as charged from erp.sales_order_line_item where order_id = $1 and type = 'product' order by position",
      model.made.id,
    );
    const shipped = model.unitsOf(model.sent);
    assert.deepEqual(
      lines,
      shipped.map((shipped, n) => ({
        shipped,
        charged: model.standing.reduce((sum, { units }) => sum + units[n]!, 0),
      })),
    );
    const [{ balance }] = await shop.sql(
      `select round(coalesce(sum(case config ->> 'typeCode' when '381' then -100 else 100 end
         * (config #>> '{totals,total}')::numeric), 0))::integer as balance
       from erp.document where order_id = $1`,
      model.made.id,
    );
    assert.equal(balance, model.balance, "invoices less what takes them back");
  }

  async end(): Promise<void> {
    const { model } = this;
    while ((await shop.stateOf(model.made)).state !== "completed") await this.shipRest();
    await this.invoice(true);
    assert.deepEqual(
      model.open,
      model.goods.map(() => 0),
    );
    assert.deepEqual(model.uninvoiced, []);
    await this.compare();
  }
}

describe("documents of random shipments", () => {
  it("charge what was shipped, once, and all of it in the end", async () => {
    for (let n = 0; n < count; n++) {
      const play = new Play();
      await play.begin();
      try {
        for (let step = 0; step < steps; step++) {
          const name = random.oneOf([
            "ship",
            "ship",
            "shipRest",
            "cancel",
            "invoice",
            "invoice",
            "takeBack",
          ] as const);
          play.log.push(name);
          await play[name]();
          await play.compare();
        }
        play.log.push("end");
        await play.end();
        await assertLedgerIsRight(shop);
      } catch (error) {
        (error as Error).message += ` (SEED=${seed}, order ${n}: ${play.log.join(", ")})`;
        throw error;
      }
    }
  });
});
