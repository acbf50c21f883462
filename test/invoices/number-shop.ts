import { openDocumentShop } from "../pdf/document-shop.ts";
import type { DocumentShop } from "../pdf/document-shop.ts";

/** The shop whose invoices are numbered by year: RE-2031-1, and OUT/1.2031 in a second sales channel. */
export interface NumberShop extends DocumentShop {
  /** Opens the second sales channel, and returns its id. Until then, `order` makes a single order. */
  openOutlet(): Promise<string>;
}

export async function openNumberShop(): Promise<NumberShop> {
  const shop = await openDocumentShop();
  await shop.owner.query(`
    insert into erp.merchant (legal_name) values ('Shop');
    update erp.number_range set pattern = 'RE-{year}-{n}' where technical_name = 'document_invoice';
    insert into erp.number_range (technical_name, pattern) values ('outlet_invoice', 'OUT/{n}.{year}')`);
  return {
    ...shop,
    async openOutlet() {
      const { rows } = await shop.owner.query(`
        with outlet as (
          insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
          select '{"en-GB": "Outlet"}', country_id, currency_id, customer_group_id, payment_method_id from erp.sales_channel
          returning id)
        insert into erp.channel_number_range (document_type_id, sales_channel_id, number_range)
        select t.id, outlet.id, 'outlet_invoice' from outlet, erp.document_type t where t.technical_name = 'invoice'
        returning sales_channel_id as id`);
      return rows[0].id;
    },
  };
}
