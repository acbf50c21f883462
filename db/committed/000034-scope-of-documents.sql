--! Previous: sha1:ec3e8129db5b747a07d20c57be6708228aca86a1
--! Hash: sha1:2933e8c145c2cf7e5435280a6f094f1dd4fc9f69
--! Message: Scope of documents

--! split: 1-current.sql
-- Documents have a scope of their own; orders:write still creates them, too
--! Included api/document_create.sql
drop type if exists api_unstable.document_create_payload cascade;
create type api_unstable.document_create_payload as (
  document uuid, "order" uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.document_create_payload is 'The document that was made.';
comment on column api_unstable.document_create_payload.document is
  E'@entity Document\nThe new document; null when it was refused.';
comment on column api_unstable.document_create_payload."order" is
  E'@entity Order\nThe order that it is about; null when it was refused.';
comment on column api_unstable.document_create_payload.user_errors is
  'Why nothing was made; empty when it was.';
comment on column api_unstable.document_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.document_create_input cascade;
drop type if exists api_unstable.document_create_line_input cascade;
create type api_unstable.document_create_line_input as (
  order_line_item_id uuid, quantity integer, amount numeric
);
comment on type api_unstable.document_create_line_input is
  'A line that a credit note credits, as a whole or in part.';
comment on column api_unstable.document_create_line_input.order_line_item_id is
  E'@notNull\n@gid OrderLineItem\nId of the line of the order, which the invoice charges.';
comment on column api_unstable.document_create_line_input.quantity is
  'Units that are credited, at their price less their share of discounts; at most what is not credited yet. '
  'Left out, only the amount is credited.';
comment on column api_unstable.document_create_line_input.amount is
  'Amount that is credited, in the currency of the order: with tax if the prices of the order include it. '
  'Left out, the price of the units.';

create type api_unstable.document_create_input as (
  order_id uuid, document_type text, fulfillment_ids uuid[], referenced_document_id uuid,
  lines api_unstable.document_create_line_input[], amount numeric
);
comment on type api_unstable.document_create_input is 'A document to make of an order.';
comment on column api_unstable.document_create_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.document_create_input.document_type is
  E'@notNull\nTechnical name of the type: invoice, delivery_note, credit_note, storno or prepayment.';
comment on column api_unstable.document_create_input.fulfillment_ids is
  E'@gid Fulfillment\n'
  'Ids of the fulfillments that an invoice charges, 1 to 250, or of the one that a delivery note lists. Left '
  'out, the invoice charges all that was shipped and that no other invoice charges; the delivery note lists '
  'the newest fulfillment.';
comment on column api_unstable.document_create_input.referenced_document_id is
  E'@gid Document\n'
  'Id of the invoice that a credit_note or storno takes back. May be left out when only one is not taken '
  'back yet.';
comment on column api_unstable.document_create_input.lines is
  '1 to 250 lines that a credit_note credits, each of another line of the invoice. Left out, the credit note '
  'credits all that is left of the invoice.';
comment on column api_unstable.document_create_input.amount is
  'Amount of a prepayment with tax, in the currency of the order: at most what is not invoiced yet.';

create function api_unstable.document_create(input api_unstable.document_create_input)
returns api_unstable.document_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.create_order_document(
      input.order_id, input.document_type, input.fulfillment_ids, input.referenced_document_id,
      case when input.lines is not null then array(
        select row (l.order_line_item_id, l.quantity, l.amount)::erp.credit_line
        from unnest(input.lines) with ordinality l order by l.ordinality
      ) end, input.amount
    ),
    input.order_id, null, null
  )::api_unstable.document_create_payload
$$;
comment on function api_unstable.document_create(api_unstable.document_create_input) is
  E'@requiresScopes documents:write orders:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Makes a document of an order after it was shipped. An invoice charges what was shipped and what no other '
  'invoice charges; with the first go the lines that are no products, such as the costs of shipping. An '
  'order without goods is charged as it is. A storno cancels an invoice: what it charged can be invoiced '
  'again. A credit_note gives the money of an invoice back, of the whole or of lines, and what it charged is '
  'not charged again. An invoice is taken back once: by a storno, or by credit notes up to its total. A '
  'prepayment charges an amount before the shipment; invoices deduct it once it is paid.';
--! EndIncluded api/document_create.sql
