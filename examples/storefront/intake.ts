import type { Task } from "./inbox.ts";
import type { Service } from "./service.ts";
import { Refusal } from "./service.ts";
import type { Shop, ShopOrder, ShopProduct } from "./shops/shop.ts";

/** Rows of an upsert. */
const maxRows = 250;

/** Brings products and orders of the shop into the service. */
export class Intake {
  readonly #shop: Shop;
  readonly #service: Service;
  readonly #salesChannelId: string;
  #currencies: Map<string, string> | null = null;

  /** @param salesChannelId of the shop, within which its ids are unique */
  constructor(shop: Shop, service: Service, salesChannelId: string) {
    this.#shop = shop;
    this.#service = service;
    this.#salesChannelId = salesChannelId;
  }

  handle = async ({ subject, message, content }: Task): Promise<void> => {
    if (subject.startsWith("product ")) return this.#products(await this.#shop.products(content), message);
    const order = await this.#shop.order(content);
    if (order) await this.#order(order, message);
  };

  async #products(products: ShopProduct[], message: string): Promise<void> {
    for (let from = 0; from < products.length; from += maxRows) {
      const rows = await Promise.all(
        products.slice(from, from + maxRows).map(async ({ price, ...row }) => ({
          ...row,
          ...(price && {
            price: await Promise.all(
              price.map(async ({ currency, ...amounts }) => ({
                ...amounts,
                currencyId: await this.#currency(currency),
              })),
            ),
          }),
        })),
      );
      await this.#service.mutate("productsUpsert", { products: rows }, "", message);
    }
  }

  async #order({ customer, order, currency, isCancelled }: ShopOrder, message: string): Promise<void> {
    const salesChannelId = this.#salesChannelId;
    const row = {
      ...{ ...order, salesChannelId, currencyId: await this.#currency(currency) },
      ...(customer && { customerId: await this.#customer({ ...customer, salesChannelId }, message) }),
    };
    const { orders } = await this.#service.mutate<{ orders: { id: string; state: string }[] }>(
      "ordersUpsert",
      { orders: [row] },
      "orders { id state }",
      message,
    );
    const { id, state } = orders[0]!;
    if (isCancelled && state !== "cancelled") await this.#service.mutate("orderCancel", { id }, "", message);
  }

  async #customer(row: { email: string; [field: string]: unknown }, message: string): Promise<string> {
    try {
      const { results } = await this.#service.mutate<{ results: { id: string }[] }>(
        "customersUpsert",
        { customers: [row] },
        "results { id }",
        message,
      );
      return results[0]!.id;
    } catch (error) {
      // A guest who has bought before is another customer of the shop, with the same e-mail
      const isKnown = error instanceof Refusal && error.isAbout("NOT_UNIQUE", "email");
      const known = isKnown ? await this.#customerOf(row.email) : null;
      if (known === null) throw error;
      return known;
    }
  }

  async #customerOf(email: string): Promise<string | null> {
    const { customers } = await this.#service.ask<{ customers: { edges: { node: { id: string } }[] } }>(
      `query ($email: String!, $channel: ID!) {
        customers(first: 1, filter: { email: { equals: $email }, salesChannelId: { equals: $channel } }) {
          edges { node { id } }
        }
      }`,
      { email, channel: this.#salesChannelId },
    );
    return customers.edges[0]?.node.id ?? null;
  }

  async #currency(isoCode: string): Promise<string> {
    if (!this.#currencies?.has(isoCode)) {
      const { currencies } = await this.#service.ask<{
        currencies: { edges: { node: { id: string; isoCode: string } }[] };
      }>("{ currencies(first: 250) { edges { node { id isoCode } } } }");
      this.#currencies = new Map(currencies.edges.map(({ node }) => [node.isoCode, node.id]));
    }
    const id = this.#currencies.get(isoCode);
    if (id === undefined) throw new Error(`The service has no currency ${isoCode}`);
    return id;
  }
}
