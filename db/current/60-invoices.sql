-- Invoices after the shipment, credits that happen once, actions that a mutation does, and amounts that are
-- rounded once

-- Rounding
--!include erp/rounded.sql
--!include erp/amounts.sql
--!include erp/converted_price.sql
--!include erp/match_order_lines.sql
--!include api/orders_upsert.sql
--!include erp/copy_supplier_prices.sql
--!include erp/set_supplier_order_lines.sql
--!include ledger/order_amounts.sql
--!include erp/order_pieces.sql
--!include erp/document_amounts.sql

-- The total follows from the unrounded price, and so from the rate, which a generated column can't see
alter table erp.goods_receipt_line_item
  alter column total_price_in_default_currency drop expression if exists;
--!include erp/keep_default_currency_price.sql
drop trigger if exists keep_figures on erp.goods_receipt_line_item;
create trigger keep_figures
  before insert or update of unit_price, goods_receipt_id, quantity, unit_price_in_default_currency
  on erp.goods_receipt_line_item for each row execute function erp.keep_default_currency_price();
select api_meta.backfill('totals of goods receipts in the default currency', 'erp.goods_receipt_line_item',
  '{total_price_in_default_currency}',
  'erp.amount_in_default_currency(unit_price * quantity, (select r.currency_factor from erp.goods_receipt r '
  'where r.id = goods_receipt_id))',
  'unit_price_in_default_currency is not null and total_price_in_default_currency is distinct from '
  'erp.amount_in_default_currency(unit_price * quantity, (select r.currency_factor from erp.goods_receipt r '
  'where r.id = goods_receipt_id)) and (select r.currency_factor from erp.goods_receipt r '
  'where r.id = goods_receipt_id) is not null')
where exists (select from erp.goods_receipt_line_item l where l.total_price_in_default_currency is not null);

-- Documents
--!include erp/reversed_amounts.sql
--!include erp/tax_in_default_currency.sql
--!include erp/document_config.sql
drop function if exists erp.is_cancelled_invoice(uuid);
drop function if exists erp.create_reversal(uuid, text, uuid);
drop function if exists erp.create_invoice(uuid, boolean, text[]);
drop function if exists erp.billable_parts(uuid, boolean);
--!include erp/reversal_of.sql
--!include erp/open_invoices.sql
--!include erp/standing_invoices.sql
--!include erp/charges_services.sql
--!include erp/newest_shipment.sql
--!include erp/billable_parts.sql
--!include erp/create_invoice.sql
--!include erp/create_reversal.sql
--!include erp/create_document.sql
--!include erp/require_documents.sql
--!include erp/create_documents.sql
--!include erp/require_fulfillments.sql
--!include erp/require_uninvoiced.sql
--!include erp/create_order_document.sql
select api_meta.allow('service_writer', 'erp.invoice_line_item', 'update (quantity)', 'delete');
--!include erp/release_credited_units.sql
--!include erp/cancel_invoices_of.sql
--!include ledger/keep_cancellations.sql
--!include api/document_create.sql

-- What has nothing left to ship is completed
drop function if exists erp.refuse_nothing_to_ship(uuid, text);
--!include erp/is_all_shipped.sql
--!include erp/settle_order.sql
--!include erp/require_all_shipped.sql
--!include erp/complete_shipment.sql
--!include erp/cancel_order.sql
--!include api/order_cancel.sql
--!include api/order_shipment_complete.sql
--!include api/fulfillment_create.sql
--!include api/fulfillment_cancel.sql

-- Actions of clients
alter table erp.state_transition add column if not exists mutation text;
comment on column erp.state_transition.mutation is
  'The mutation by which clients do it, by the name of its function, such as order_cancel. Null where it '
  'only follows from something else, or nothing does it: then refusals do not offer it.';
update erp.state_transition t set mutation = m.mutation
from (values
  ('goods_receipt', 'create', 'goods_receipt_update'), ('goods_receipt', 'withdraw', 'goods_receipt_update'),
  ('goods_receipt', 'approve', 'goods_receipt_approve'), ('goods_receipt', 'start', 'goods_receipt_start'),
  ('goods_receipt', 'complete', 'goods_receipt_complete'),
  ('order', 'process', 'order_shipment_complete'), ('order', 'complete', 'order_shipment_complete'),
  ('order', 'cancel', 'order_cancel'),
  ('order_delivery', 'ship_partially', 'fulfillment_create'),
  ('order_delivery', 'ship', 'order_shipment_complete'), ('order_delivery', 'cancel', 'order_cancel'),
  ('fulfillment_order', 'start', 'fulfillment_order_start'),
  ('fulfillment_order', 'hold', 'fulfillment_order_hold'),
  ('fulfillment_order', 'release_hold', 'fulfillment_order_release_hold'),
  ('fulfillment_order', 'close', 'fulfillment_create'),
  ('fulfillment_order', 'cancel', 'fulfillment_order_cancel'),
  ('fulfillment', 'cancel', 'fulfillment_cancel'),
  ('supplier_order', 'send', 'supplier_order_send'), ('supplier_order', 'confirm', 'supplier_order_confirm'),
  ('supplier_order', 'complete', 'supplier_order_complete'),
  ('supplier_order', 'cancel', 'supplier_order_cancel')
) m (machine, action, mutation)
where t.machine = m.machine and t.action = m.action and t.mutation is null;
--!include erp/allowed_actions.sql
--!include erp/next_state.sql
