import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buildSchema, graphql } from "graphql";

/** A server that looks like a shop to the example. */
export interface StandIn {
  url: string;
  secret: string;
  /** While it is away it closes every connection. */
  isAway: boolean;
  /** What the example changed, in its order. */
  calls: string[];
  close(): Promise<void>;
}

type Answer = (path: string, body: any, headers: IncomingHttpHeaders) => unknown;

/** A message that was made for the example's folder. */
export const recorded = (name: string): any =>
  JSON.parse(
    readFileSync(new URL(`../../examples/storefront/recorded/${name}.json`, import.meta.url), "utf8"),
  );

async function standIn(answer: Answer): Promise<StandIn> {
  const server = createServer((request, response) => {
    if (shop.isAway) return void request.socket.destroy();
    void bodyOf(request)
      .then((body) => answer(request.url!, body, request.headers))
      .then((result) => {
        if (result === undefined) return response.writeHead(404).end();
        return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result));
      });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const shop: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ secret: randomUUID(), isAway: false, calls: [] },
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
  return shop;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString() || "null");
}

async function post(url: string, text: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(url, { method: "POST", body: text, headers });
  await response.arrayBuffer();
  return response.status;
}

/** Sends a webhook as Shopify does, with an id of its own unless one is given. */
export function sendFromShopify(
  to: string,
  topic: string,
  document: object,
  secret: string,
  id: string = randomUUID(),
): Promise<number> {
  const text = JSON.stringify(document);
  return post(to, text, {
    "content-type": "application/json",
    "x-shopify-topic": topic,
    "x-shopify-webhook-id": id,
    "x-shopify-hmac-sha256": createHmac("sha256", secret).update(text).digest("base64"),
  });
}

/** Sends a webhook as Shopware does for an app. */
export function sendFromShopware(to: string, message: object, secret: string): Promise<number> {
  const text = JSON.stringify(message);
  return post(to, text, {
    "content-type": "application/json",
    "shopware-shop-signature": createHmac("sha256", secret).update(text).digest("hex"),
  });
}

/** The part of Shopify's Admin API that the example may use. */
const shopifySchema = buildSchema(`
  directive @idempotent(key: String!) on FIELD
  type UserError { field: [String!] message: String! }
  type InventoryItem { id: ID! }
  type ProductVariant { id: ID! inventoryItem: InventoryItem! }
  type Tracking { number: String }
  type Fulfillment { id: ID! trackingInfo(first: Int): [Tracking!]! }
  type LineItem { id: ID! }
  type FulfillmentOrderLineItem { id: ID! totalQuantity: Int! remainingQuantity: Int! lineItem: LineItem! }
  type FulfillmentOrderLineItemConnection { nodes: [FulfillmentOrderLineItem!]! }
  type FulfillmentOrder { id: ID! status: String! lineItems(first: Int): FulfillmentOrderLineItemConnection! }
  type FulfillmentOrderConnection { nodes: [FulfillmentOrder!]! }
  type Order { id: ID! fulfillments(first: Int): [Fulfillment!]! fulfillmentOrders(first: Int): FulfillmentOrderConnection! }
  type Query { productVariant(id: ID!): ProductVariant order(id: ID!): Order }
  input InventoryQuantityInput { inventoryItemId: ID! locationId: ID! quantity: Int! }
  input InventorySetQuantitiesInput {
    name: String! reason: String! ignoreCompareQuantity: Boolean quantities: [InventoryQuantityInput!]!
  }
  input FulfillmentOrderLineItemInput { id: ID! quantity: Int! }
  input FulfillmentOrderLineItemsInput {
    fulfillmentOrderId: ID! fulfillmentOrderLineItems: [FulfillmentOrderLineItemInput!]
  }
  input FulfillmentTrackingInput { numbers: [String!] }
  input FulfillmentInput {
    lineItemsByFulfillmentOrder: [FulfillmentOrderLineItemsInput!]! trackingInfo: FulfillmentTrackingInput
    notifyCustomer: Boolean
  }
  type Changed { userErrors: [UserError!]! }
  type FulfillmentCreatePayload { fulfillment: Fulfillment userErrors: [UserError!]! }
  type Mutation {
    inventorySetQuantities(input: InventorySetQuantitiesInput!): Changed
    fulfillmentCreate(fulfillment: FulfillmentInput!): FulfillmentCreatePayload
    fulfillmentTrackingInfoUpdate(fulfillmentId: ID!, trackingInfoInput: FulfillmentTrackingInput!): Changed
  }`);

/** A shop of Shopify with one order, of which a line of product 9101 is to be fulfilled. */
export async function startShopify(): Promise<StandIn> {
  const fulfillments: { id: string; trackingInfo: { number: string }[] }[] = [];
  const line = {
    ...{ id: "gid://shopify/FulfillmentOrderLineItem/1", totalQuantity: 3, remainingQuantity: 3 },
    lineItem: { id: "gid://shopify/LineItem/6001" },
  };
  const changed = (call: string) => {
    shop.calls.push(call);
    return { userErrors: [] };
  };
  const rootValue = {
    productVariant: ({ id }: { id: string }) => ({
      ...{ id, inventoryItem: { id: `gid://shopify/InventoryItem/9${id.slice(-3)}` } },
    }),
    order: ({ id }: { id: string }) => ({
      ...{ id, fulfillments },
      fulfillmentOrders: {
        nodes: [
          {
            ...{ id: "gid://shopify/FulfillmentOrder/1", lineItems: { nodes: [line] } },
            status: line.remainingQuantity > 0 ? "OPEN" : "CLOSED",
          },
        ],
      },
    }),
    inventorySetQuantities: ({ input: { quantities } }: any) =>
      changed(`stock of ${quantities[0].inventoryItemId}: ${quantities[0].quantity}`),
    fulfillmentCreate({ fulfillment: { lineItemsByFulfillmentOrder, trackingInfo } }: any) {
      const { quantity } = lineItemsByFulfillmentOrder[0].fulfillmentOrderLineItems[0];
      line.remainingQuantity -= quantity;
      const numbers = trackingInfo.numbers as string[];
      fulfillments.push({
        id: `gid://shopify/Fulfillment/${fulfillments.length + 1}`,
        trackingInfo: numbers.map((number) => ({ number })),
      });
      return changed(`fulfilled ${quantity}: ${numbers.join()}`);
    },
    fulfillmentTrackingInfoUpdate: ({ trackingInfoInput: { numbers } }: any) =>
      changed(`tracked ${numbers.join()}`),
  };
  const shop = await standIn(async (path, { query, variables }, headers) => {
    if (!/^\/admin\/api\/\d{4}-\d\d\/graphql\.json$/.test(path)) return undefined;
    if (headers["x-shopify-access-token"] !== "shpat_test") return { errors: "Invalid API key" };
    return graphql({ schema: shopifySchema, source: query, rootValue, variableValues: variables });
  });
  return shop;
}

/** A shop of Shopware 6 with two products and an order, which a test may change. */
export async function startShopware(): Promise<StandIn & { order: any }> {
  const entities: Record<string, any[]> = {
    product: recorded("shopware-products"),
    order: [recorded("shopware-order")],
    currency: [{ id: "b7d2554b0ce847cd82f3ac9bd1c0dfca", isoCode: "EUR" }],
  };
  const [delivery] = entities.order![0].deliveries;
  const actions: Record<string, string> = { ship: "shipped", ship_partially: "shipped_partially" };
  const shop = await standIn((path, body, headers) => {
    if (path === "/api/oauth/token")
      return body.client_secret === "hunter2" ? { access_token: "token", expires_in: 600 } : undefined;
    if (headers.authorization !== "Bearer token") return undefined;
    const [, , kind, id, , action] = path.split("/");
    if (kind === "search") {
      const data = entities[id!]!.filter((entity) => !body.ids || body.ids.includes(entity.id));
      return { total: data.length, data };
    }
    if (kind === "product") shop.calls.push(`stock of ${id}: ${body.stock}`);
    if (kind === "order-delivery" && id === delivery.id) {
      delivery.trackingCodes = body.trackingCodes;
      shop.calls.push(`codes ${body.trackingCodes.join()}`);
    }
    if (kind === "_action") {
      const [, , , , , to, name] = path.split("/");
      if (to !== "state" || !actions[name!]) return undefined;
      delivery.stateMachineState.technicalName = actions[name!];
      shop.calls.push(name!);
    }
    return action === undefined ? null : { id };
  });
  return Object.assign(shop, { order: entities.order![0] });
}
