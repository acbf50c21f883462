import type { IncomingHttpHeaders } from "node:http";
import type { News } from "../inbox.ts";

/** A price; the currency by its ISO code. */
export interface ShopPrice {
  currency: string;
  net: number;
  gross: number;
}

/** An image in the form of the input. */
export interface ShopImage {
  url: string;
  altText: string | null;
  translations?: { locale: string; altText: string | null }[];
}

/** A product in the form of ProductUpsertInput, with prices by ISO codes. */
export interface ShopProduct {
  productNumber: string;
  price?: ShopPrice[];
  images: ShopImage[];
  [field: string]: unknown;
}

/** An order of the shop, with its customer. */
export interface ShopOrder {
  currency: string;
  /** In the form of CustomerUpsertInput; null when nobody is known. */
  customer: { storefrontId: string; email: string; [field: string]: unknown } | null;
  /** In the form of OrderUpsertInput. */
  order: { storefrontId: string; lineItems: object[]; [field: string]: unknown };
  isCancelled: boolean;
}

/** What became of an order in the service. */
export interface Shipment {
  storefrontId: string;
  deliveryState: string | null;
  trackingCodes: string[];
  /** Units by the shop's ids of lines. */
  shipped: Map<string, number>;
}

/** Which product or variant of the shop is meant. */
export interface Counterpart {
  productId: string;
  variantId: string | null;
}

/** What differs between shop systems. */
export interface Shop {
  /** What its global ids begin with. */
  idPrefix: string;
  /**
   * What a webhook says, with its id; null if the shop hasn't signed it.
   *
   * @param body as it was sent: the signature is about its bytes
   */
  read(headers: IncomingHttpHeaders, body: Buffer): { id: string; news: News[] } | null;
  /** The products that the content of news is about; parents first. */
  products(content: unknown): Promise<ShopProduct[]>;
  /** The order that the content of news is about; null when it is gone. */
  order(content: unknown): Promise<ShopOrder | null>;
  /** @param key the same when it is sent again */
  sendStock(of: Counterpart, quantity: number, key: string): Promise<void>;
  /** Brings the shop's order to the state of the shipment; does nothing when it is there. */
  sendShipment(shipment: Shipment): Promise<void>;
}

/** The address of a file, spelled as the service takes it: other characters than those of ASCII are escaped. */
export const addressOfFile = (address: string): string => new URL(address).href;

export const round = (amount: number): number => Math.round(amount * 100) / 100;
