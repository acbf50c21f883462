import pg from "pg";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { openShop } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";

const rows = `
  update erp.currency set position = 1 where is_default_currency;
  insert into erp.country (iso_code, name) values ('FR', '{"en-GB": "France"}');
  insert into erp.customer_group (name) values ('{"en-GB": "All"}');
  insert into erp.payment_method (technical_name, name) values ('prepaid', '{"en-GB": "Prepaid", "de-DE": "Vorkasse"}');
  insert into erp.shipping_method (technical_name, name) values ('express', '{"en-GB": "Express"}');
  insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
    select '{"en-GB": "Shop", "de-DE": "Laden"}', c.id, u.id, g.id, p.id from erp.country c, erp.currency u, erp.customer_group g, erp.payment_method p
    where u.is_default_currency;
  insert into erp.customer (customer_number, email, first_name, last_name, group_id, sales_channel_id, vat_ids)
    select 'C-1', 'a@example.org', 'Anna', 'Becker', group_id, id, '["DE1"]' from (select customer_group_id as group_id, id from erp.sales_channel) v;
  update erp.warehouse set address = '{"street": "Hafenweg 1", "zipcode": "20457", "city": "Hamburg", "countryIso": "DE"}' where is_default`;

/** The small shop with a customer, and functions for its documents in SQL. */
export interface DocumentShop extends Shop {
  /** Makes an order of a hammer (119.00 with 19 %), two books (107.00 each with 7 %) and a discount (-11.90). */
  order(changes?: { taxStatus?: string; countryIso?: string | null }): Promise<string>;
  /** Calls `erp.create_document` in the role of mutations. */
  create(order: string, type: string, referenced?: string | null): Promise<string>;
  /** A document's row, with its type. */
  find(id: string): Promise<any>;
  /** Another connection in that role. The caller ends it. */
  connect(): Promise<pg.Client>;
}

export async function openDocumentShop(): Promise<DocumentShop> {
  const shop = await openShop();
  const { owner, adminUrl } = shop;
  await owner.query(rows);
  const connect = async () => {
    const client = new pg.Client({ connectionString: asWriter(adminUrl) });
    await client.connect();
    return client;
  };
  const writer = await connect();
  return {
    ...shop,
    async order({ taxStatus = "gross", countryIso = "DE" } = {}) {
      const { rows } = await owner.query(
        `with made as (
           insert into erp.sales_order (order_number, order_date_time, state, tax_status, currency_id, sales_channel_id, customer_id, shipping_method_id,
             payment_method_id, billing_address, shipping_address)
           select 'SO-' || uuidv7(), '2026-05-01 23:30+00', 'completed', $1, u.id, s.id, c.id, m.id, p.id, a, a
           from erp.currency u, erp.sales_channel s, erp.customer c, erp.shipping_method m, erp.payment_method p,
             (select jsonb_build_object('lastName', 'Becker', 'city', 'Bremen', 'countryIso', $2::text) as a) v
           where u.is_default_currency
           returning id), lines as (
           insert into erp.sales_order_line_item (order_id, product_id, type, identifier, label, position, quantity, unit_price, total_price, tax_rate)
           select made.id, p.id, v.type, v.identifier, v.label, v.position, quantity, unit_price, unit_price * quantity, v.tax_rate
           from made, (values ('promotion', 'sale', 'Sale', 3, 1, -11.9, null), ('custom', 'book', 'Book', 2, 2, 107, 7),
             ('product', 'hammer', 'Hammer', 1, 1, 119, 19)) v (type, identifier, label, position, quantity, unit_price, tax_rate)
           left join erp.product p on p.product_number = v.identifier)
         select id from made`,
        [taxStatus, countryIso],
      );
      return rows[0].id;
    },
    create: (...call) => createDocument(writer, ...call),
    async find(id) {
      const { rows } = await owner.query(
        "select d.*, t.technical_name as type from erp.document d join erp.document_type t on t.id = d.document_type_id where d.id = $1",
        [id],
      );
      return rows[0];
    },
    connect,
    async close() {
      await writer.end();
      await shop.close();
    },
  };
}

/** Calls `erp.create_document`. */
export async function createDocument(
  client: pg.ClientBase,
  order: string,
  type: string,
  referenced: string | null = null,
): Promise<string> {
  const { rows } = await client.query("select erp.create_document($1, $2, $3) as id", [
    order,
    type,
    referenced,
  ]);
  return rows[0].id;
}

/** The same connection, in the role of mutations. */
function asWriter(adminUrl: string): string {
  return urlAsOwner(adminUrl).replace("service_owner", "service_writer");
}
