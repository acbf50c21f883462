import type { ShopImage, ShopOrder, ShopProduct } from "./shop.ts";
import { addressOfFile, round } from "./shop.ts";
import type {
  ShopifyAddress,
  ShopifyImage,
  ShopifyLine,
  ShopifyOrder,
  ShopifyProduct,
} from "./shopify-documents.ts";

/** What Shopify doesn't say of its prices. */
export interface ShopifyTerms {
  currency: string;
  /** In percent. Prices include the tax. */
  taxRate: number;
}

const listed = (tags: string): string[] => tags.split(",").flatMap((tag) => tag.trim() || []);

/** A variant without a number of its own is known by its id. */
const numberOf = (sku: string | null, variant: number): string => sku || `shopify-${variant}`;

/** A product with one variant is one product of the service; else the product stands for its variants. */
export function fromShopifyProduct(product: ShopifyProduct, { currency, taxRate }: ShopifyTerms) {
  const common = { description: product.body_html, tags: listed(product.tags), taxRate };
  const isSingle = product.variants.length === 1;
  const variants = product.variants.map((variant): ShopProduct => {
    const gross = Number(variant.price);
    return {
      ...common,
      productNumber: numberOf(variant.sku, variant.id),
      ...(isSingle ? {} : { parentProductNumber: product.handle }),
      name: isSingle ? product.title : `${product.title}, ${variant.title}`,
      gtin: variant.barcode || null,
      price: [{ currency, gross, net: round(gross / (1 + taxRate / 100)) }],
      storefrontVariants: [
        { productId: product.admin_graphql_api_id, variantId: variant.admin_graphql_api_id },
      ],
      images: imagesOf(
        isSingle ? product.images : product.images.filter((image) => image.variant_ids.includes(variant.id)),
      ),
    };
  });
  if (isSingle) return variants;
  const { handle: productNumber, title: name } = product;
  return [{ ...common, productNumber, name, images: imagesOf(product.images) }, ...variants];
}

const imagesOf = (images: readonly ShopifyImage[]): ShopImage[] =>
  [...images]
    .sort((a, b) => a.position - b.position)
    .map(({ src, alt }) => ({ url: addressOfFile(src), altText: alt }));

export function fromShopifyOrder(order: ShopifyOrder): ShopOrder {
  const { customer } = order;
  const address = order.billing_address ?? order.shipping_address;
  return {
    currency: order.currency,
    customer: customer?.email
      ? {
          storefrontId: customer.admin_graphql_api_id,
          email: customer.email,
          firstName: customer.first_name ?? address?.first_name ?? "",
          lastName: customer.last_name ?? address?.last_name ?? "",
        }
      : null,
    order: {
      storefrontId: order.admin_graphql_api_id,
      orderNumber: order.name,
      orderDateTime: order.created_at,
      paymentState: order.financial_status === "pending" ? "open" : order.financial_status,
      taxStatus: "gross",
      tags: listed(order.tags),
      shippingAddress: addressOf(order.shipping_address),
      billingAddress: addressOf(order.billing_address),
      lineItems: [
        ...order.line_items
          .filter((line) => line.current_quantity > 0)
          .map((line) => lineOf(line, order.taxes_included)),
        ...order.shipping_lines.map(({ id, title, discounted_price, tax_lines }) => ({
          ...{ storefrontId: `gid://shopify/ShippingLine/${id}`, type: "custom", label: title, quantity: 1 },
          ...pricesOf(Number(discounted_price), 1, tax_lines, order.taxes_included),
        })),
      ],
    },
    isCancelled: order.cancelled_at !== null,
  };
}

function lineOf(line: ShopifyLine, includesTax: boolean): object {
  const { current_quantity: quantity, variant_id: variant } = line;
  // Discounts are for all units that were ordered
  const discount = line.discount_allocations.reduce((sum, { amount }) => sum + Number(amount), 0);
  const amount = Number(line.price) * quantity - (discount * quantity) / line.quantity;
  return {
    storefrontId: line.admin_graphql_api_id,
    ...(variant === null ? { type: "custom" } : { productNumber: numberOf(line.sku, variant) }),
    label: line.variant_title ? `${line.title}, ${line.variant_title}` : line.title,
    quantity,
    ...pricesOf(amount, quantity, line.tax_lines, includesTax),
  };
}

function pricesOf(amount: number, quantity: number, taxes: { rate: number }[], includesTax: boolean) {
  const rate = taxes.reduce((sum, tax) => sum + tax.rate, 0);
  const gross = includesTax ? amount : amount * (1 + rate);
  return { unitPrice: round(gross / quantity), totalPrice: round(gross), taxRate: round(rate * 100) };
}

function addressOf(address: ShopifyAddress | null): object | null {
  if (address === null) return null;
  return {
    company: address.company,
    firstName: address.first_name,
    lastName: address.last_name,
    street: address.address1,
    additionalAddressLine1: address.address2,
    zipcode: address.zip,
    city: address.city,
    countryName: address.country,
    countryIso: address.country_code,
    countryStateName: address.province,
    countryStateShortCode: address.province_code,
    phoneNumber: address.phone,
  };
}
