import type { ClientBase } from "pg";
import type { Found } from "./find.ts";

/** What takes the place of a text in which a value was found. */
export const removed = "[removed]";

/** Characters of values that are looked for within longer texts. Shorter ones are only compared. */
const tellingLength = 6;

const read = `
  select v.value from (
    select unnest(array[c.email, c.first_name, c.last_name, c.company, c.storefront_id]) from erp.customer c where c.id = $1
    union select jsonb_array_elements_text(c.vat_ids) from erp.customer c where c.id = $1
    union select a.value #>> '{}' from (
        select shipping_address from erp.sales_order where id = any ($2)
        union all select billing_address from erp.sales_order where id = any ($2)
        union all select shipping_address from erp.fulfillment_order where id = any ($3)
      ) x (address)
      cross join jsonb_path_query(x.address, 'strict $.**') a (value)
      where jsonb_typeof(a.value) = 'string'
        and a.value #>> '{}' is distinct from x.address ->> 'countryName'
  ) v (value) where length(v.value) >= 3`;

/** What takes the place of a name. */
export const anonymousName = ["Anonymized", "Customer"] as const;
const isReplacement = (value: string): boolean =>
  value.endsWith("@anonymized.invalid") || anonymousName.some((name) => name === value);

/** The personal values of a customer, to find where else they are. */
export class Values {
  readonly #all: ReadonlySet<string>;
  readonly #telling: readonly string[];

  constructor(all: Iterable<string>) {
    this.#all = new Set([...all].map((value) => value.toLowerCase()));
    this.#telling = [...this.#all].filter((value) => value.length >= tellingLength);
  }

  static async of(
    client: ClientBase,
    { customer, orders, fulfillment_orders: parts }: Found,
  ): Promise<Values> {
    const { rows } = await client.query<{ value: string }>(read, [customer, orders, parts]);
    return new Values(rows.map(({ value }) => value).filter((value) => !isReplacement(value)));
  }

  /** Whether a text is one of them, or contains a telling one. */
  isIn(text: string): boolean {
    const lower = text.toLowerCase();
    return this.#all.has(lower) || this.#telling.some((value) => lower.includes(value));
  }

  /** The same JSON with other texts in the place of those that are, or contain, one of them. */
  without(json: unknown): unknown {
    if (typeof json === "string") return this.isIn(json) ? removed : json;
    if (Array.isArray(json)) return json.map((one) => this.without(one));
    if (typeof json !== "object" || json === null) return json;
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, this.without(value)]));
  }
}
