import assert from "node:assert/strict";
import { assertProof } from "../../lib/proof.ts";
import { shown } from "../../model/money.ts";
import { sum } from "./accounts.ts";
import { nodes } from "./merchant.ts";
import type { Story } from "./story.ts";
import { products } from "./story.ts";

/** Everything that the service shows is as in the merchant's own accounts. */
export async function compare(story: Story, when: string): Promise<void> {
  const { merchant, purchases } = story;
  const { accounts } = merchant;
  const found = await merchant.read(`{
    products(first: 50) { edges { node { productNumber physicalStock stockNotAvailableForSale reservedStock availableStock
      openSupplierOrderQuantity stockValue { quantity value faultCount }
      stocks(first: 50) { edges { node { quantity binLocation { code } warehouse { code } stockContainer { number } } } } } } }
    batches(first: 250) { edges { node { number physicalStock } } }
    supplierOrders(first: 50) { edges { node { id state lineItems(first: 10) { edges { node { receivedQuantity openQuantity } } } } } }
  }`);
  for (const node of nodes(found.products)) {
    const product: string = node.productNumber;
    const worth = accounts.worthOf(product);
    const { stocks, stockValue, ...figures } = node;
    assert.deepEqual(
      figures,
      {
        productNumber: product,
        physicalStock: accounts.physical(product),
        stockNotAvailableForSale: accounts.notForSale(product),
        reservedStock: accounts.reserved(product),
        availableStock: accounts.available(product),
        openSupplierOrderQuantity: purchases.open(product),
      },
      when,
    );
    assert.deepEqual(
      [stockValue.quantity, Number(stockValue.value).toFixed(6), stockValue.faultCount],
      [worth.units, shown(worth.value), 0],
      `${when}: value of ${product}`,
    );
    const lying = nodes(stocks).flatMap(({ quantity, binLocation, warehouse, stockContainer }) => {
      const place = (binLocation ?? warehouse)?.code ?? stockContainer?.number;
      return quantity !== 0 && place ? [[place, quantity]] : [];
    });
    const expected = [...accounts.places.keys()].flatMap((place) => {
      const units = sum(accounts.piles, (pile) =>
        pile.product === product && pile.place === place ? pile.units : 0,
      );
      return units === 0 ? [] : [[place, units]];
    });
    assert.deepEqual(new Map(lying as any), new Map(expected as any), `${when}: places of ${product}`);
  }
  for (const { number, physicalStock } of nodes(found.batches))
    assert.equal(physicalStock, accounts.ofBatch(number), `${when}: batch ${number}`);
  for (const { id, state, lineItems } of nodes(found.supplierOrders)) {
    const purchase = purchases.orders.find((one) => one.id === id)!;
    const lines = purchase.lines.map(({ quantity, received }) => ({
      receivedQuantity: received,
      openQuantity: Math.max(0, quantity - received),
    }));
    assert.deepEqual([state, nodes(lineItems)], [purchase.state, lines], `${when}: supplier order`);
  }
  await compareOrders(story, when);
  await assertProof(merchant.service.owner);
  assert.equal(products.length, nodes(found.products).length);
}

async function compareOrders({ merchant, sales }: Story, when: string): Promise<void> {
  for (let after: string | null = null; ;) {
    const { orders }: any = await merchant.read(
      `query ($after: String) { orders(first: 100, after: $after) { pageInfo { hasNextPage endCursor } edges { node { orderNumber state deliveryState
        lineItems(first: 10) { edges { node { quantity shippedQuantity returnedQuantity } } } } } } }`,
      { after },
    );
    for (const node of nodes(orders)) {
      const order = sales.orders.find(({ number }) => number === node.orderNumber)!;
      const [state, delivery] = sales.stateOf(order);
      const lines = order.lines.map(({ quantity, shipped, returned }) => ({
        quantity,
        shippedQuantity: shipped,
        returnedQuantity: returned,
      }));
      assert.deepEqual(
        [node.state, node.deliveryState, nodes(node.lineItems)],
        [state, delivery, lines],
        `${when}: ${order.number}`,
      );
    }
    if (!orders.pageInfo.hasNextPage) return;
    after = orders.pageInfo.endCursor;
  }
}

/** What parcels took is what they cost. */
export async function compareCosts({ merchant, sales }: Story): Promise<void> {
  for (const { costs, number } of sales.orders)
    for (const [id, cost] of costs) {
      const { fulfillment } = await merchant.read(
        "query ($id: ID!) { fulfillment(id: $id) { costOfGoods } }",
        { id },
      );
      assert.equal(Number(fulfillment.costOfGoods).toFixed(6), shown(cost), `cost of a parcel of ${number}`);
    }
}
