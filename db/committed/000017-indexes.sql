--! Previous: sha1:72ca6762df761a9ebd545ef67ac0edcc4abf36f9
--! Hash: sha1:aa88c60f694494853668a748ccda557f4217c9a7
--! Message: indexes

--! split: 05-indexes.sql
-- Indexes are for something (db/lint/index-use.sql).
drop index if exists ledger.stock_movement_process_type_technical_name_id_idx;
comment on constraint stock_movement_process_type_technical_name_fkey on ledger.stock_movement is
  '@unindexed No list is filtered by it, and kinds of processes are hardly ever deleted; an index would take '
  'a sixth of the room of all of a movement''s.';
comment on index ledger.stock_movement_transaction_id_idx is 'For those who follow the list.';
comment on index erp.fulfillment_line_item_fulfillment_order_line_item_id_id_idx is
  'For the figures of a line of a fulfillment order.';
comment on index events.webhook_subscription_credential_id_idx is
  'For the number of them that a credential may have.';
comment on index erp.goods_receipt_line_item_id_idx is 'For erp.fill_default_currency_prices.';
comment on index mutation.idempotency_key_created_at_idx is 'For the removal of those that are too old.';
comment on index auth.audit_event_credential_id_idx is 'For the page of a credential.';
do $$
begin
  execute format('comment on index %s is %L',
    coalesce(to_regclass('events.lane_claimed_by_idx'), to_regclass('events.delivery_queue_claimed_by_idx')),
    'For a process to renew what it has claimed.');
end
$$;
