/** The parts of Shopify's webhooks that are read here. */
export interface ShopifyAddress {
  first_name: string | null;
  last_name: string | null;
  company: string | null;
  address1: string | null;
  address2: string | null;
  zip: string | null;
  city: string | null;
  country: string | null;
  country_code: string | null;
  province: string | null;
  province_code: string | null;
  phone: string | null;
}

export interface ShopifyLine {
  admin_graphql_api_id: string;
  title: string;
  variant_title: string | null;
  sku: string | null;
  variant_id: number | null;
  price: string;
  quantity: number;
  /** Without what was taken out of the order again. */
  current_quantity: number;
  discount_allocations: { amount: string }[];
  tax_lines: { rate: number }[];
}

export interface ShopifyOrder {
  admin_graphql_api_id: string;
  name: string;
  created_at: string;
  updated_at: string;
  cancelled_at: string | null;
  currency: string;
  financial_status: string;
  taxes_included: boolean;
  tags: string;
  customer: {
    admin_graphql_api_id: string;
    email: string | null;
    first_name: string | null;
    last_name: string | null;
  } | null;
  shipping_address: ShopifyAddress | null;
  billing_address: ShopifyAddress | null;
  line_items: ShopifyLine[];
  shipping_lines: { id: number; title: string; discounted_price: string; tax_lines: { rate: number }[] }[];
}

export interface ShopifyVariant {
  id: number;
  admin_graphql_api_id: string;
  title: string;
  sku: string | null;
  barcode: string | null;
  price: string;
}

export interface ShopifyImage {
  position: number;
  src: string;
  alt: string | null;
  /** The variants that it shows; none when it shows the product. */
  variant_ids: number[];
}

export interface ShopifyProduct {
  admin_graphql_api_id: string;
  handle: string;
  title: string;
  body_html: string | null;
  updated_at: string;
  tags: string;
  variants: ShopifyVariant[];
  images: ShopifyImage[];
}
