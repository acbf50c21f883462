import type { ShopImage, ShopOrder, ShopProduct } from "./shop.ts";
import { addressOfFile, round } from "./shop.ts";
import type {
  ShopwareAddress,
  ShopwareCosts,
  ShopwareImage,
  ShopwareOrder,
  ShopwareProduct,
} from "./shopware-documents.ts";

/** Shopware's ids hold for all types; here they say what they are of. */
export const shopwareId = (type: string, id: string): string => `gid://shopware/${type}/${id}`;

/** @param isoCodes of the shop's currencies, by their ids */
export function fromShopwareProduct(
  product: ShopwareProduct,
  parent: ShopwareProduct | undefined,
  isoCodes: Map<string, string>,
): ShopProduct {
  return {
    productNumber: product.productNumber,
    ...(parent ? { parentProductNumber: parent.productNumber } : {}),
    name: product.translated.name,
    description: product.translated.description,
    gtin: product.ean,
    manufacturerNumber: product.manufacturerNumber,
    ...(product.tax ? { taxRate: product.tax.taxRate } : {}),
    tags: product.tags.map(({ name }) => name),
    price: (product.price ?? []).flatMap(({ currencyId, net, gross }) => {
      const currency = isoCodes.get(currencyId);
      return currency === undefined ? [] : [{ currency, net: round(net), gross: round(gross) }];
    }),
    storefrontVariants: [{ productId: shopwareId("Product", product.id), variantId: null }],
    translations: product.translations.map(({ language, name, description }) => ({
      ...{ locale: language.locale.code, name: name ?? null, description: description ?? null },
    })),
    images: imagesOf(product),
  };
}

function imagesOf({ coverId, media }: ShopwareProduct): ShopImage[] {
  const place = ({ id, position }: ShopwareImage) => (id === coverId ? -1 : position);
  return [...media]
    .sort((a, b) => place(a) - place(b))
    .map(({ media: { url, alt, translations } }) => ({
      url: addressOfFile(url),
      altText: alt,
      translations: translations.map(({ language, alt }) => ({
        ...{ locale: language.locale.code, altText: alt ?? null },
      })),
    }));
}

export function fromShopwareOrder(order: ShopwareOrder): ShopOrder {
  const { orderCustomer: customer, deliveries, price } = order;
  const payment = [...order.transactions].sort((a, b) => a.createdAt.localeCompare(b.createdAt)).at(-1);
  const isNet = price.taxStatus === "net";
  return {
    currency: order.currency.isoCode,
    customer: customer?.customerId
      ? {
          storefrontId: shopwareId("Customer", customer.customerId),
          ...(customer.customerNumber ? { customerNumber: customer.customerNumber } : {}),
          ...{ email: customer.email, firstName: customer.firstName, lastName: customer.lastName },
          ...{ company: customer.company, accountType: customer.company ? "Business" : "Private" },
        }
      : null,
    order: {
      storefrontId: shopwareId("Order", order.id),
      orderNumber: order.orderNumber,
      orderDateTime: order.orderDateTime,
      paymentState: payment?.stateMachineState.technicalName ?? "open",
      taxStatus: isNet ? "gross" : price.taxStatus,
      tags: order.tags.map(({ name }) => name),
      shippingAddress: addressOf(deliveries[0]?.shippingOrderAddress ?? null),
      billingAddress: addressOf(order.billingAddress),
      lineItems: [
        ...[...order.lineItems]
          .sort((a, b) => a.position - b.position)
          .map(({ id, type, label, quantity, payload, price }) => ({
            ...{ storefrontId: shopwareId("LineItem", id), label, quantity },
            ...(type === "product" ? { productNumber: payload?.productNumber } : { type }),
            ...pricesOf(price, quantity, isNet),
          })),
        ...(order.shippingCosts.totalPrice > 0
          ? [
              {
                ...{ storefrontId: shopwareId("Shipping", order.id), type: "custom" },
                ...{ label: "Shipping", quantity: 1, ...pricesOf(order.shippingCosts, 1, isNet) },
              },
            ]
          : []),
      ],
    },
    isCancelled: order.stateMachineState.technicalName === "cancelled",
  };
}

function pricesOf({ totalPrice, calculatedTaxes }: ShopwareCosts, quantity: number, isNet: boolean) {
  const gross = isNet ? calculatedTaxes.reduce((sum, { tax }) => sum + tax, totalPrice) : totalPrice;
  const rates = calculatedTaxes.map(({ taxRate }) => taxRate);
  return { unitPrice: round(gross / quantity), totalPrice: round(gross), taxRate: Math.max(0, ...rates) };
}

function addressOf(address: ShopwareAddress | null): object | null {
  if (address === null) return null;
  const { country, countryState, ...others } = address;
  return {
    company: others.company,
    department: others.department,
    firstName: others.firstName,
    lastName: others.lastName,
    street: others.street,
    additionalAddressLine1: others.additionalAddressLine1,
    additionalAddressLine2: others.additionalAddressLine2,
    zipcode: others.zipcode,
    city: others.city,
    phoneNumber: others.phoneNumber,
    countryName: country?.name ?? null,
    countryIso: country?.iso ?? null,
    countryStateName: countryState?.name ?? null,
    countryStateShortCode: countryState?.shortCode ?? null,
  };
}
