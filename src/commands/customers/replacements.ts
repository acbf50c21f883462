import type { Found } from "./find.ts";
import { anonymousName } from "./values.ts";

const [first, last] = anonymousName;

/** SQL for what stays of an address: the country, by which taxes and statistics go. */
const country = (address: string): string =>
  `nullif(jsonb_strip_nulls(jsonb_build_object('countryIso', ${address} -> 'countryIso', 'countryName', ${address} -> 'countryName')), '{}')`;

/** The same of a fulfillment order's address, which has all keys that clients are promised. */
const countryAlone = (address: string): string => `erp.postal_address(${country(address)})`;

interface Replacement {
  what: string;
  /** Whose rows; the ids are the parameter of the statement. */
  ids: keyof Found;
  text: string;
}

/** What takes the place of personal values in tables. Rows that are done aren't changed again, so they cause no events. */
export const inTables: readonly Replacement[] = [
  {
    what: "customer",
    ids: "customer",
    text: `update erp.customer set email = id || '@anonymized.invalid', first_name = '${first}', last_name = '${last}',
      title = null, company = null, vat_ids = null, storefront_id = null, salutation_id = null, active = false
      where id = $1 and (email <> id || '@anonymized.invalid' or first_name <> '${first}' or last_name <> '${last}'
        or num_nonnulls(title, company, vat_ids, storefront_id, salutation_id) > 0 or active)`,
  },
  { what: "tags", ids: "customer", text: "delete from erp.customer_tag where customer_id = $1" },
  {
    // Also changes the tracking codes of orders
    what: "shipping labels",
    ids: "labels",
    text: `update erp.shipping_label set tracking_codes = '[]', tracking_url = null, document_url = null
      where id = any ($1) and (tracking_codes <> '[]' or num_nonnulls(tracking_url, document_url) > 0)`,
  },
  {
    what: "orders",
    ids: "orders",
    text: `update erp.sales_order set shipping_address = ${country("shipping_address")}, billing_address = ${country("billing_address")},
        entered_tracking_codes = '{}', tracking_codes = null
      where id = any ($1) and (shipping_address is distinct from ${country("shipping_address")}
        or billing_address is distinct from ${country("billing_address")} or cardinality(entered_tracking_codes) > 0)`,
  },
  {
    what: "fulfillment orders",
    ids: "fulfillment_orders",
    text: `update erp.fulfillment_order set shipping_address = ${countryAlone("shipping_address")}, hold_comment = null
      where id = any ($1) and (shipping_address is distinct from ${countryAlone("shipping_address")} or hold_comment is not null)`,
  },
  {
    what: "quotes",
    ids: "quotes",
    text: "update erp.quote set comment = null where id = any ($1) and comment is not null",
  },
  {
    what: "goods receipts",
    ids: "receipts",
    text: "update erp.goods_receipt set comment = null where id = any ($1) and comment is not null",
  },
];

/** The same in the data of events, by the type of their subject. */
const fields = {
  Customer: {
    email: null,
    firstName: first,
    lastName: last,
    title: null,
    company: null,
    vatIds: null,
    storefrontId: null,
    salutationId: null,
  },
  Order: { trackingCodes: null },
  FulfillmentOrder: { holdComment: null, shippingAddress: null },
  ShippingLabel: { trackingCodes: [], trackingUrl: null, documentUrl: null },
  GoodsReceipt: { comment: null },
};

/** SQL that replaces it in the data of events, or of changes that will be some, and leaves what is done. */
export function inEvents(table: "events.event" | "events.outbox", condition: string): string {
  const key = table === "events.event" ? "sequence" : "position";
  return `
    update ${table} e set data = n.data
    from ${table} o join events.topic t on t.name = o.topic
    cross join lateral (
      select o.data || coalesce(jsonb_object_agg(f.key, case f.key
        when 'email' then to_jsonb(o.subject_id || '@anonymized.invalid')
        when 'shippingAddress' then coalesce(case when jsonb_typeof(o.data -> f.key) = 'object'
          then ${countryAlone("(o.data -> f.key)")} end, 'null')
        when 'trackingCodes' then case jsonb_typeof(o.data -> f.key) when 'array' then '[]' else 'null' end::jsonb
        else f.value end), '{}')
      from jsonb_each('${JSON.stringify(fields)}'::jsonb -> t.subject_type) f where o.data ? f.key
    ) n (data)
    where o.${condition} and o.data <> n.data and e.${key} = o.${key}`;
}
