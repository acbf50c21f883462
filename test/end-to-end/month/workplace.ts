import assert from "node:assert/strict";
import { sum } from "./accounts.ts";
import { nodes } from "./merchant.ts";
import { shippingAddress } from "./sales.ts";
import type { Story } from "./story.ts";

/** Work between the bins and the door: goods in a tote, a wave that is picked short, a quote, and what to buy. */

/** Cables stand in a tote, which a trolley takes to another bin: nothing changes but where they are. */
export async function packTote({ merchant }: Story): Promise<void> {
  const { accounts, id } = merchant;
  const { binLocation } = await merchant.call(
    "binLocationCreate",
    { warehouseId: id.hall, code: "A-4", position: 5 },
    "binLocation { id }",
  );
  id["A-4"] = binLocation.id;
  accounts.places.set("A-4", { warehouse: "hall", position: 5, isSellable: true });
  const { stockContainer } = await merchant.call(
    "stockContainerCreate",
    { number: "tote 1", kind: "tote", warehouseId: id.hall, binLocationId: id["A-3"] },
    "stockContainer { id }",
  );
  id["tote 1"] = stockContainer.id;
  await merchant.call("stockContainerMove", { id: stockContainer.id, binLocationId: id["A-4"] });
  accounts.places.set("tote 1", { warehouse: "hall", position: 5, isSellable: true });
  const quantity = Math.min(5, accounts.unitsAt("cable", "A-3"));
  if (quantity === 0) return;
  await merchant.call("stockTransfer", {
    lines: [
      {
        productId: id.cable,
        source: merchant.place("A-3"),
        destination: merchant.place("tote 1"),
        quantity,
      },
    ],
    processType: "relocation",
  });
  accounts.bring("cable", "A-3", -quantity);
  accounts.bring("cable", "tote 1", quantity);
}

/** Ben picks an order, and finds nothing in the first bin: the units come from elsewhere, or stay open. */
export async function pickShort({ merchant, sales }: Story): Promise<void> {
  const { accounts, id } = merchant;
  const [order] = await sales.take("Shop", [[["lamp", 2]]]);
  await sales.plan(order!);
  const assignment = order!.assignments.find(({ warehouse }) => warehouse === "hall");
  if (!assignment) return;
  const line = "id quantity binLocation { code } warehouse: pickList { warehouse { code } }";
  const { pickLists } = await merchant.call(
    "pickListsCreate",
    { warehouseId: id.hall, fulfillmentOrderIds: [assignment.id], lists: [{ assignee: "Ben" }] },
    `pickLists { id tasks(first: 5) { edges { node { id } } } lines(first: 10) { edges { node { ${line} } } } } warnings { code }`,
  );
  if (pickLists.length === 0) return;
  await merchant.call("pickListStart", { id: pickLists[0].id });
  const [missed, ...others] = nodes(pickLists[0].lines);
  const { replacements } = await merchant.call(
    "pickListLineShort",
    { id: missed.id },
    `replacements { ${line} } missingQuantity`,
  );
  const picked: [place: string, units: number][] = [];
  for (const { id: lineId, quantity, binLocation } of [...others, ...replacements]) {
    await merchant.call("pickListLineConfirm", { id: lineId, code: "lamp", quantity });
    picked.push([binLocation?.code ?? "hall", quantity]);
  }
  const units = sum(picked, ([, some]) => some);
  const [task] = nodes(pickLists[0].tasks);
  if (units > 0) {
    const { fulfillments } = await merchant.call(
      "pickListPack",
      { pickTaskId: task.id },
      "fulfillments { id }",
    );
    for (const [place, some] of picked) accounts.bring("lamp", place, -some);
    order!.costs.set(fulfillments[0].id, accounts.sell("lamp", order!.number, units));
    accounts.reserve("lamp", "hall", -units);
    order!.lines[0]!.shipped += units;
    assignment.lines[0]!.open -= units;
  }
  // Otherwise nothing was found anywhere, and the list has ended
  // The bin is counted, and is empty indeed
  const place = missed.binLocation.code;
  const lost = accounts.unitsAt("lamp", place);
  await merchant.call("stockSet", {
    lines: [{ productId: id.lamp, place: merchant.place(place), quantity: 0 }],
    processType: "stocktaking",
  });
  if (lost > 0) accounts.worthOf("lamp").take(lost);
  accounts.bring("lamp", place, -lost);
}

/** A customer accepts a quote, twice: it becomes one order. */
export async function acceptQuote({ merchant, sales }: Story): Promise<void> {
  const { id } = merchant;
  const quote = {
    number: "Q-1",
    customerId: id["customer 1"],
    salesChannelId: id.Shop,
    shippingAddress,
    taxStatus: "gross",
    validUntil: new Date(Date.now() + 30 * 86_400_000).toISOString(),
    lineItems: [{ productNumber: "cable", quantity: 3, unitPrice: 8, taxRate: 19 }],
  };
  const { quotes } = await merchant.call("quotesUpsert", { quotes: [quote] }, "quotes { id }");
  await merchant.call("quoteSend", { id: quotes[0].id });
  const select =
    "order { id orderNumber lineItems(first: 5) { edges { node { id quantity totalPrice } } } } quote { state }";
  const first = await merchant.call("quoteAccept", { id: quotes[0].id }, select);
  const second = await merchant.call("quoteAccept", { id: quotes[0].id }, select);
  assert.equal(second.order.id, first.order.id, "a quote became two orders");
  const [line] = nodes(first.order.lineItems);
  assert.deepEqual([line.quantity, line.totalPrice, first.quote.state], [3, 24, "accepted"]);
  const order = sales.note(first.order.orderNumber, first.order.id, "Shop", [
    { id: line.id, product: "cable", quantity: 3 },
  ]);
  await sales.plan(order);
}

/** Honey falls below its reorder point: what the service proposes is ordered. */
export async function reorder({ merchant, purchases }: Story): Promise<void> {
  const { id, accounts } = merchant;
  await merchant.call("productSupplierConfigurationsUpsert", {
    productSupplierConfigurations: [
      {
        productNumber: "honey",
        supplierNumber: "alpen",
        purchaseSteps: 6,
        deliveryTimeDays: 3,
        supplierIsDefault: true,
        purchasePrices: [{ currencyIsoCode: "CHF", net: 3.55, gross: 4.22, linked: false }],
      },
    ],
  });
  await merchant.call("productWarehouseConfigurationsUpsert", {
    productWarehouseConfigurations: [
      { productNumber: "honey", warehouseCode: "hall", reorderPoint: 200, targetMaximumQuantity: 240 },
    ],
  });
  const { reorderProposals } = await merchant.read(
    "query ($id: ID!) { reorderProposals(productId: $id) { edges { node { quantity position onOrderQuantity reason warehouseId supplier { number } currency { isoCode } } } } }",
    { id: id.honey },
  );
  const [proposal] = nodes(reorderProposals);
  const position = accounts.availableAt("honey", "hall") + purchases.open("honey");
  const missing = 240 - position;
  assert.deepEqual(
    [proposal.position, proposal.quantity, proposal.supplier.number, proposal.currency.isoCode],
    [position, Math.ceil(missing / 6) * 6, "alpen", "CHF"],
  );
  const { quantity, onOrderQuantity, warehouseId } = proposal;
  const { supplierOrders } = await merchant.call(
    "supplierOrdersCreateFromProposals",
    { lines: [{ productId: id.honey, warehouseId, quantity, onOrderQuantity }] },
    "supplierOrders { id lineItems(first: 5) { edges { node { id } } } }",
  );
  for (const step of ["supplierOrderSend", "supplierOrderConfirm"])
    await merchant.call(step, { id: supplierOrders[0].id });
  const line = {
    id: nodes(supplierOrders[0].lineItems)[0].id,
    product: "honey",
    quantity,
    received: 0,
    price: "3.55",
  };
  purchases.orders.push({ id: supplierOrders[0].id, currency: "CHF", state: "confirmed", lines: [line] });
}
