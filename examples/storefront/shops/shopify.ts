import type { IncomingHttpHeaders } from "node:http";
import { isSigned, sendJson } from "../http.ts";
import type { News } from "../inbox.ts";
import type { Counterpart, Shipment, Shop } from "./shop.ts";
import type { ShopifyOrder, ShopifyProduct } from "./shopify-documents.ts";
import type { ShopifyTerms } from "./shopify-translate.ts";
import { fromShopifyOrder, fromShopifyProduct } from "./shopify-translate.ts";

export interface ShopifyOptions extends ShopifyTerms {
  /** Address of the shop, for example https://my-shop.myshopify.com. */
  url: string;
  /** Client secret of the app, which signs webhooks. */
  secret: string;
  /** Access token of the Admin API. */
  token: string;
  /** Id of the location whose stock is set. */
  locationId: string;
}

/** The first version with keys against repetitions; each is served for a year. */
const apiVersion = "2026-01";

const variantQuery = `query ($id: ID!) { productVariant(id: $id) { inventoryItem { id } } }`;
const stockMutation = `
  mutation ($input: InventorySetQuantitiesInput!, $key: String!) {
    inventorySetQuantities(input: $input) @idempotent(key: $key) { userErrors { field message } }
  }`;
const orderQuery = `
  query ($id: ID!) {
    order(id: $id) {
      fulfillments(first: 100) { id trackingInfo(first: 100) { number } }
      fulfillmentOrders(first: 100) { nodes {
        id status
        lineItems(first: 250) { nodes { id totalQuantity remainingQuantity lineItem { id } } }
      } }
    }
  }`;
const fulfillMutation = `
  mutation ($fulfillment: FulfillmentInput!) {
    fulfillmentCreate(fulfillment: $fulfillment) { fulfillment { id } userErrors { field message } }
  }`;
const trackMutation = `
  mutation ($id: ID!, $tracking: FulfillmentTrackingInput!) {
    fulfillmentTrackingInfoUpdate(fulfillmentId: $id, trackingInfoInput: $tracking) {
      userErrors { field message }
    }
  }`;

interface OrderAnswer {
  order: {
    fulfillments: { id: string; trackingInfo: { number: string | null }[] }[];
    fulfillmentOrders: {
      nodes: {
        id: string;
        status: string;
        lineItems: {
          nodes: {
            id: string;
            totalQuantity: number;
            remainingQuantity: number;
            lineItem: { id: string };
          }[];
        };
      }[];
    };
  } | null;
}

/** A shop of Shopify: webhooks carry products and orders whole; stock and parcels go to its Admin API. */
export class Shopify implements Shop {
  readonly idPrefix = "gid://shopify/";
  readonly #options: ShopifyOptions;

  constructor(options: ShopifyOptions) {
    this.#options = options;
  }

  read(headers: IncomingHttpHeaders, body: Buffer): { id: string; news: News[] } | null {
    if (!isSigned(body, this.#options.secret, "base64", headers["x-shopify-hmac-sha256"])) return null;
    const kind = /^(order|product)s\/(?:create|updated?|cancelled)$/.exec(
      String(headers["x-shopify-topic"]),
    )?.[1];
    const id = String(headers["x-shopify-webhook-id"]);
    if (kind === undefined) return { id, news: [] };
    const document = JSON.parse(body.toString("utf8")) as ShopifyOrder | ShopifyProduct;
    const version = new Date(document.updated_at).toISOString();
    const subject = `${kind} ${document.admin_graphql_api_id}`;
    return { id, news: [{ direction: "in", subject, version, content: document }] };
  }

  async products(content: unknown) {
    return fromShopifyProduct(content as ShopifyProduct, this.#options);
  }

  async order(content: unknown) {
    return fromShopifyOrder(content as ShopifyOrder);
  }

  async sendStock({ variantId }: Counterpart, quantity: number, key: string): Promise<void> {
    if (variantId === null) return;
    const { productVariant } = await this.#ask<{ productVariant: { inventoryItem: { id: string } } | null }>(
      variantQuery,
      { id: variantId },
    );
    if (productVariant === null) return;
    const inventoryItemId = productVariant.inventoryItem.id;
    await this.#ask(stockMutation, {
      key,
      input: {
        ...{ name: "available", reason: "correction", ignoreCompareQuantity: true },
        quantities: [{ inventoryItemId, locationId: this.#options.locationId, quantity }],
      },
    });
  }

  /** Fulfills what was shipped and isn't fulfilled yet, with the codes that the shop doesn't know yet. */
  async sendShipment({ storefrontId, trackingCodes, shipped }: Shipment): Promise<void> {
    const { order } = await this.#ask<OrderAnswer>(orderQuery, { id: storefrontId });
    if (order === null) return;
    const known = order.fulfillments.flatMap(({ trackingInfo }) => trackingInfo.map(({ number }) => number));
    const numbers = trackingCodes.filter((code) => !known.includes(code));
    const left = new Map(shipped);
    const parts = order.fulfillmentOrders.nodes.map(({ id, status, lineItems: { nodes } }) => ({
      ...{ id, status },
      lines: nodes.flatMap((line) => {
        const units = left.get(line.lineItem.id) ?? 0;
        const here = Math.min(units, line.totalQuantity);
        left.set(line.lineItem.id, units - here);
        const quantity = here - (line.totalQuantity - line.remainingQuantity);
        return quantity > 0 ? [{ id: line.id, quantity }] : [];
      }),
    }));
    const open = parts.filter(({ status, lines }) => /^(OPEN|IN_PROGRESS)$/.test(status) && lines.length > 0);
    for (const { id, lines } of open)
      await this.#ask(fulfillMutation, {
        fulfillment: {
          lineItemsByFulfillmentOrder: [{ fulfillmentOrderId: id, fulfillmentOrderLineItems: lines }],
          trackingInfo: { numbers },
          notifyCustomer: true,
        },
      });
    const last = order.fulfillments.at(-1);
    if (open.length === 0 && numbers.length > 0 && last) {
      const all = [...last.trackingInfo.flatMap(({ number }) => number ?? []), ...numbers];
      await this.#ask(trackMutation, { id: last.id, tracking: { numbers: all } });
    }
  }

  async #ask<T>(query: string, variables: object): Promise<T> {
    const { url, token } = this.#options;
    const { data, errors } = await sendJson<{ data?: Record<string, unknown>; errors?: unknown }>(
      "POST",
      `${url}/admin/api/${apiVersion}/graphql.json`,
      { query, variables },
      { "x-shopify-access-token": token },
    );
    if (errors || !data) throw new Error(`Shopify: ${JSON.stringify(errors)}`);
    for (const payload of Object.values(data)) {
      const { userErrors = [] } = (payload ?? {}) as { userErrors?: unknown[] };
      if (userErrors.length > 0) throw new Error(`Shopify: ${JSON.stringify(userErrors)}`);
    }
    return data as T;
  }
}
