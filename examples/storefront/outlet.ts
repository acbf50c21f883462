import type { News, Task } from "./inbox.ts";
import type { Service } from "./service.ts";
import type { Counterpart, Shop } from "./shops/shop.ts";

/** The body of a webhook of the service. */
export interface ServiceMessage {
  type: string;
  data: { id: string };
}

const productQuery = `query ($id: ID!) { product(id: $id) { availableStock storefrontVariants } }`;
const orderQuery = `
  query ($id: ID!) {
    order(id: $id) {
      storefrontId deliveryState trackingCodes
      lineItems(first: 250) { edges { node { storefrontId shippedQuantity } } }
    }
  }`;

interface OrderAnswer {
  order: {
    storefrontId: string | null;
    deliveryState: string | null;
    trackingCodes: string[] | null;
    lineItems: { edges: { node: { storefrontId: string | null; shippedQuantity: number | null } }[] };
  } | null;
}

/** What a message of the service says: what to look at. */
export function newsOf({ type, data }: ServiceMessage): News[] {
  const kind = /^(product|order)\.updated$/.exec(type)?.[1];
  if (kind === undefined) return [];
  const subject = kind === "product" ? `stock of ${data.id}` : `shipment of ${data.id}`;
  return [{ direction: "out", subject, version: "", content: data.id }];
}

/** Brings stock and parcels to the shop, as they are when it happens. */
export class Outlet {
  readonly #shop: Shop;
  readonly #service: Service;

  constructor(shop: Shop, service: Service) {
    this.#shop = shop;
    this.#service = service;
  }

  handle = async ({ subject, message, content }: Task): Promise<void> => {
    const id = String(content);
    return subject.startsWith("stock ") ? this.#stock(id, message) : this.#shipment(id);
  };

  async #stock(id: string, message: string): Promise<void> {
    const { product } = await this.#service.ask<{
      product: { availableStock: number | null; storefrontVariants: Counterpart[] } | null;
    }>(productQuery, { id });
    for (const counterpart of product?.storefrontVariants ?? []) {
      if (!counterpart.productId.startsWith(this.#shop.idPrefix)) continue;
      const quantity = product!.availableStock ?? 0;
      await this.#shop.sendStock(counterpart, quantity, `${message}/${quantity}`);
    }
  }

  async #shipment(id: string): Promise<void> {
    const { order } = await this.#service.ask<OrderAnswer>(orderQuery, { id });
    if (!order?.storefrontId?.startsWith(this.#shop.idPrefix)) return;
    const { storefrontId, deliveryState, trackingCodes, lineItems } = order;
    const shipped = lineItems.edges.map(
      ({ node }) => [node.storefrontId ?? "", node.shippedQuantity ?? 0] as const,
    );
    await this.#shop.sendShipment({
      ...{ storefrontId, deliveryState },
      ...{ trackingCodes: trackingCodes ?? [], shipped: new Map(shipped) },
    });
  }
}
