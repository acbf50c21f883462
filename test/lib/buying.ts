import type { ShippingShop } from "./shipping-shop.ts";

const nodes = ({ edges }: any): any[] => edges.map(({ node }: any) => node);
const receiptFields = "goodsReceipt { id number lineItems { edges { node { id quantity } } } }";

/** Calls about supplier orders and goods receipts, by short names. */
export function buyingIn(shop: ShippingShop) {
  const line = (product: string, quantity: number, more: object = {}) => ({
    productId: shop.id[product],
    quantity,
    ...more,
  });
  const write = async (lineItems: object[], more: object = {}) => {
    const { goodsReceipt, warnings } = await shop.succeed(
      "goodsReceiptCreate",
      { lineItems, ...more },
      `${receiptFields} warnings { code field }`,
    );
    const { id, number } = goodsReceipt;
    const lines = nodes(goodsReceipt.lineItems);
    return { id, number, warnings, lines, quantities: lines.map(({ quantity }) => quantity) };
  };
  const put = async (id: string, putAway?: object[]) => {
    await shop.succeed("goodsReceiptApprove", { id });
    await shop.succeed("goodsReceiptComplete", { id, putAway });
  };
  return {
    line,
    /** Makes a supplier order that the supplier confirms. */
    async order(lineItems: object[], supplier = "acme") {
      const { supplierOrder } = await shop.succeed(
        "supplierOrderCreate",
        { supplierId: shop.id[supplier], lineItems },
        "supplierOrder { id lineItems { edges { node { id quantity totalPrice } } } }",
      );
      await shop.succeed("supplierOrderConfirm", { id: supplierOrder.id });
      return { id: supplierOrder.id as string, lines: nodes(supplierOrder.lineItems) };
    },
    /** Writes down a goods receipt: nothing is booked yet. */
    write,
    /** Approves and completes a goods receipt. */
    put,
    /** Writes, approves and completes a goods receipt. */
    async receive(lineItems: object[], more: object = {}) {
      const receipt = await write(lineItems, more);
      await put(receipt.id);
      return receipt;
    },
    /** Returns the state of a supplier order, and received and open units of its lines. */
    async stateOf(id: string) {
      const { supplierOrder } = await shop.read(
        "query ($id: ID!) { supplierOrder(id: $id) { state lineItems { edges { node { receivedQuantity openQuantity } } } } }",
        { id },
      );
      const units = nodes(supplierOrder.lineItems).map((one) => [one.receivedQuantity, one.openQuantity]);
      return [supplierOrder.state, ...units];
    },
    /** Returns physical, reserved, available and ordered units of a product. */
    async figures(product: string): Promise<number[]> {
      const { product: found } = await shop.read(
        `query ($id: ID!) { product(id: $id) { physicalStock reservedStock availableStock openSupplierOrderQuantity } }`,
        { id: shop.id[product] },
      );
      return Object.values(found);
    },
  };
}
