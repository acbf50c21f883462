import type { IncomingHttpHeaders } from "node:http";
import { AccessToken, isSigned, sendJson } from "../http.ts";
import type { News } from "../inbox.ts";
import type { Counterpart, Shipment, Shop } from "./shop.ts";
import type { ShopwareMessage, ShopwareOrder, ShopwareProduct } from "./shopware-documents.ts";
import { orderAssociations, productAssociations } from "./shopware-documents.ts";
import { fromShopwareOrder, fromShopwareProduct, shopwareId } from "./shopware-translate.ts";

export interface ShopwareOptions {
  /** Address of the shop, for example https://shop.example.com. */
  url: string;
  /** Secret that the app gave the shop when it was registered; it signs webhooks. */
  secret: string;
  /** Key and secret for the Admin API: of the app, or of an integration. */
  clientId: string;
  clientSecret: string;
}

/** Steps of a delivery: the action to a state of the service, unless the shop's delivery is there. */
const actions: Record<string, { action: string; from: readonly string[] }> = {
  shipped_partially: { action: "ship_partially", from: ["open"] },
  shipped: { action: "ship", from: ["open", "shipped_partially"] },
};

/** A shop of Shopware 6: webhooks only name what has changed, and the Admin API tells the rest. */
export class Shopware implements Shop {
  readonly idPrefix = "gid://shopware/";
  readonly #options: ShopwareOptions;
  readonly #token: AccessToken;

  constructor(options: ShopwareOptions) {
    const { url, clientId, clientSecret } = options;
    this.#options = options;
    this.#token = new AccessToken(`${url}/api/oauth/token`, clientId, clientSecret);
  }

  read(headers: IncomingHttpHeaders, body: Buffer): { id: string; news: News[] } | null {
    if (!isSigned(body, this.#options.secret, "hex", headers["shopware-shop-signature"])) return null;
    const { data, source } = JSON.parse(body.toString("utf8")) as ShopwareMessage;
    const isWritten = /^(order|product)\.written$/.test(data.event);
    const changed = isWritten ? data.payload.filter(({ operation }) => operation !== "delete") : [];
    return {
      id: source.eventId,
      news: changed.map(({ entity, primaryKey }): News => {
        const subject = `${entity} ${primaryKey}`;
        return { direction: "in", subject, version: "", content: primaryKey };
      }),
    };
  }

  async products(content: unknown) {
    const [product] = await this.#search<ShopwareProduct>("product", {
      ids: [content],
      associations: productAssociations,
    });
    if (!product) return [];
    const currencies = await this.#search<{ id: string; isoCode: string }>("currency", { limit: 500 });
    const isoCodes = new Map(currencies.map(({ id, isoCode }) => [id, isoCode]));
    const parents = product.parentId === null ? [] : await this.#parents(product.parentId);
    return [
      ...parents.map((parent) => fromShopwareProduct(parent, undefined, isoCodes)),
      fromShopwareProduct(product, parents[0], isoCodes),
    ];
  }

  #parents(id: string): Promise<ShopwareProduct[]> {
    return this.#search("product", { ids: [id], associations: productAssociations });
  }

  async order(content: unknown) {
    const order = await this.#order(String(content));
    return order && fromShopwareOrder(order);
  }

  async #order(id: string): Promise<ShopwareOrder | null> {
    const [order] = await this.#search<ShopwareOrder>("order", {
      ids: [id],
      associations: orderAssociations,
    });
    return order ?? null;
  }

  async sendStock({ productId }: Counterpart, quantity: number): Promise<void> {
    const id = productId.slice(shopwareId("Product", "").length);
    await this.#send("PATCH", `/api/product/${id}`, { stock: quantity });
  }

  async sendShipment({ storefrontId, deliveryState, trackingCodes }: Shipment): Promise<void> {
    const order = await this.#order(storefrontId.slice(shopwareId("Order", "").length));
    const delivery = order?.deliveries[0];
    if (!delivery) return;
    if (trackingCodes.some((code) => !delivery.trackingCodes.includes(code))) {
      const all = [...new Set([...delivery.trackingCodes, ...trackingCodes])];
      await this.#send("PATCH", `/api/order-delivery/${delivery.id}`, { trackingCodes: all });
    }
    const step = actions[deliveryState ?? ""];
    if (step?.from.includes(delivery.stateMachineState.technicalName))
      await this.#send("POST", `/api/_action/order_delivery/${delivery.id}/state/${step.action}`, {});
  }

  async #search<T>(entity: string, criteria: object): Promise<T[]> {
    const { data } = await this.#send<{ data: T[] }>("POST", `/api/search/${entity}`, criteria);
    return data;
  }

  /** Variants come with what they take over from their parent. */
  #send<T>(method: "POST" | "PATCH", path: string, body: object): Promise<T> {
    return this.#token.use((headers) =>
      sendJson<T>(method, this.#options.url + path, body, { ...headers, "sw-inheritance": "1" }),
    );
  }
}
