--! Previous: sha1:559175a25d6a276a8951caa1345dcb25d48a71ac
--! Hash: sha1:7f00cc4676396ae9e9ab5fbe52698e8d499c658a
--! Message: ids in order

--! split: 1-current.sql
--! Included ledger/write_movements.sql
create or replace function ledger.write_movements(drafts ledger.draft[], moment timestamptz, note text)
returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- First the number of the transaction, then ids (ledger.next_movement_id). They are sorted, as they don't
  -- grow by themselves when the clock went back.
  transaction_number constant bigint := pg_current_xact_id()::text::bigint;
  ids constant uuid[] := array(
    select ledger.next_movement_id() as id from generate_subscripts(drafts, 1) order by id);
begin
  with booked as (
    insert into ledger.stock_movement (
      id, transaction_id, created_at, microseconds, product_id, quantity, process_type_technical_name,
      comment,
      source_location_type_technical_name, source_warehouse_id, source_bin_location_id,
      source_order_id, source_return_order_id, source_goods_receipt_id, source_stock_container_id,
      source_special_stock_location_technical_name,
      destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id,
      destination_order_id, destination_return_order_id, destination_goods_receipt_id,
      destination_stock_container_id, destination_special_stock_location_technical_name
    )
    select ids[d.ordinality], transaction_number, date_trunc('second', moment), ledger.microseconds(moment),
      d.product_id, d.quantity, d.process, note,
      d.source_type,
      case d.source_type when 'warehouse' then d.source::uuid end,
      case d.source_type when 'bin_location' then d.source::uuid end,
      case d.source_type when 'order' then d.source::uuid end,
      case d.source_type when 'return_order' then d.source::uuid end,
      case d.source_type when 'goods_receipt' then d.source::uuid end,
      case d.source_type when 'stock_container' then d.source::uuid end,
      case d.source_type when 'special_stock_location' then d.source end,
      d.destination_type,
      case d.destination_type when 'warehouse' then d.destination::uuid end,
      case d.destination_type when 'bin_location' then d.destination::uuid end,
      case d.destination_type when 'order' then d.destination::uuid end,
      case d.destination_type when 'return_order' then d.destination::uuid end,
      case d.destination_type when 'goods_receipt' then d.destination::uuid end,
      case d.destination_type when 'stock_container' then d.destination::uuid end,
      case d.destination_type when 'special_stock_location' then d.destination end
    from unnest(drafts) with ordinality d order by d.ordinality
    returning stock_movement as n
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
  from booked b cross join lateral events.stock_movement_insert_events(b.n) e order by (b.n).id;
  return ids;
end
$$;
comment on function ledger.write_movements(ledger.draft[], timestamptz, text) is
  'Adds movements to the ledger, in the order of their drafts, and tells of them; answers their ids. Only '
  'for ledger.book, which checks them first.';
select api_meta.plan_by_index('ledger.write_movements(ledger.draft[], timestamptz, text)');
select api_meta.give('ledger.write_movements(ledger.draft[], timestamptz, text)', 'service_booker');
grant execute on function ledger.write_movements(ledger.draft[], timestamptz, text) to service_ledger;
--! EndIncluded ledger/write_movements.sql
