-- Comments and descriptions in plainer words. No behaviour changes.
comment on table events.webhook_subscription is
  'Webhook subscriptions: a topic, and the address that its events are sent to.';
comment on column events.webhook_subscription.next_probe_at is
  'Time of the next probe by a single delivery, outside of the schedule; null while it is healthy.';
comment on column events.webhook_subscription.payload_failures is
  'How many times in a row the payload query took too much.';
comment on column events.webhook_subscription.paused_until is
  'End of the pause after the payload query took too much; null without one.';
comment on column events.webhook_subscription.last_sequence is
  'Sequence of the newest event for it; null when there was none yet.';
comment on column events.webhook_subscription.failing_since is
  'Time of the first failure after the last success; null after a success.';
comment on column events.event.topic is 'The topic, as resource.event.';
comment on column events.event.data is 'The subject as it was at that time.';
comment on column events.event.changed_fields is
  'Fields that the update changed; null when it was no update.';
comment on column events.event.cause is
  'The request that caused it: an object with credentialId, requestId and idempotencyKey, each null for '
  'changes by other programs.';
comment on column events.delivery.subscription_id is 'The subscription.';
comment on column events.delivery.event_id is 'Id of the event, by which receivers recognise repetitions.';
comment on column events.delivery.entity_id is 'Deliveries of the same entity are sent in order.';
comment on column events.delivery.previous_sequence is
  'Sequence of the previous event for the subscription; null for the first one. A receiver that has not '
  'seen that event has missed something.';
comment on column events.delivery.state is 'State: pending, delivered, failed or cancelled.';
comment on column events.delivery.attempts is 'Number of attempts.';
comment on column events.delivery.next_attempt_at is 'Time of the next attempt after a failure.';
comment on column events.delivery.delivered_at is 'When the receiver accepted it.';
comment on column erp.fulfillment_order.hold_comment is
  'Why it is on hold, in the words of the person who put it there; null when it is not, or without a reason.';
comment on column ledger.stock_movement.comment is 'Note about the booking.';
comment on column ledger.movement_sequence.sequence is
  'Number in the ledger, without gaps, in the order in which movements were committed; null for a moment '
  'after the commit.';
--!include administration/credential_uses.sql
--!include administration/drop_webhook_backlog.sql
--!include administration/note_refused_log_in.sql
--!include administration/start_session.sql
--!include administration/use_session.sql
--!include administration/webhook_deliveries.sql
--!include administration/webhook_subscriptions.sql
--!include api/fulfillment_order_create.sql
--!include api/goods_receipt_line_items_set.sql
--!include api/order_shipment_complete.sql
--!include api/supplier_order_line_items_set.sql
--!include api/webhook_delivery_retry.sql
--!include api/webhook_subscription_create.sql
--!include api/webhook_subscription_enable.sql
--!include api_meta/current_parts.sql
--!include api_meta/describe.sql
--!include api_meta/finish_migration.sql
--!include api_meta/freeze.sql
--!include api_meta/give.sql
--!include api_meta/grant_reads.sql
--!include api_meta/plan_by_index.sql
--!include api_meta/protect_reads.sql
--!include api_meta/read_policy.sql
--!include api_meta/record_version.sql
--!include api_meta/require_frozen_versions.sql
--!include api_meta/version_faults.sql
--!include auth/add_first_signing_key.sql
--!include auth/authenticate_credential.sql
--!include auth/clear_full_buckets.sql
--!include auth/note_event.sql
--!include auth/record_use.sql
--!include auth/rotate_credential.sql
--!include auth/rotate_signing_key.sql
--!include erp/allotment.sql
--!include erp/allotment_by_name.sql
--!include erp/assign.sql
--!include erp/billable_parts.sql
--!include erp/cancel_fulfillment.sql
--!include erp/change_fulfillment_order.sql
--!include erp/change_supplier_of_receipt.sql
--!include erp/complete_goods_receipt.sql
--!include erp/complete_shipment.sql
--!include erp/copy_supplier_prices.sql
--!include erp/create_documents.sql
--!include erp/create_goods_receipt.sql
--!include erp/create_invoice.sql
--!include erp/create_warehouse.sql
--!include erp/delete_goods_receipt.sql
--!include erp/deliver_supplier_orders.sql
--!include erp/delivered_lines.sql
--!include erp/document_amounts.sql
--!include erp/document_config.sql
--!include erp/exchange_rate_on.sql
--!include erp/fill_default_currency_prices.sql
--!include erp/id_between.sql
--!include erp/import_exchange_rates.sql
--!include erp/in_default_currency.sql
--!include erp/is_called_off.sql
--!include erp/keep_currency_factor.sql
--!include erp/keep_purchase_prices.sql
--!include erp/lock_orders_named.sql
--!include erp/lock_product_supplier_configuration.sql
--!include erp/move_supplier_order.sql
--!include erp/next_number.sql
--!include erp/open_document.sql
--!include erp/open_transactions.sql
--!include erp/order_pieces.sql
--!include erp/orders_named.sql
--!include erp/receipt_type.sql
--!include erp/require_one_supplier.sql
--!include erp/resolve_goods_receipt_lines.sql
--!include erp/set_product_warehouse_configuration.sql
--!include erp/set_supplier_order_lines.sql
--!include erp/set_supplier_prices.sql
--!include erp/settle_order.sql
--!include erp/ship.sql
--!include erp/start_goods_receipt.sql
--!include erp/state_after_delivery.sql
--!include erp/tax_exemption.sql
--!include erp/unsettle_order.sql
--!include erp/update_warehouse.sql
--!include events/announcement.sql
--!include events/cause.sql
--!include events/claim_delivery_queues.sql
--!include events/count_subscriptions.sql
--!include events/derive_announcements.sql
--!include events/fan_out.sql
--!include events/is_forbidden_host.sql
--!include events/is_private_address.sql
--!include events/locked_subscription.sql
--!include events/next_deliveries.sql
--!include events/next_delivery.sql
--!include events/prune.sql
--!include events/record_attempts.sql
--!include events/renew_claims.sql
--!include events/replay_deliveries.sql
--!include events/require_scope.sql
--!include events/send_again.sql
--!include events/sequence_events.sql
--!include events/settle_delivery_queues.sql
--!include events/update_webhook_subscription.sql
--!include ledger/apply_fulfillment_changes.sql
--!include ledger/change_promised_stock.sql
--!include ledger/check_form.sql
--!include ledger/fill_configured_stock.sql
--!include ledger/flow.sql
--!include ledger/keep_batch_figures.sql
--!include ledger/keep_cancellations.sql
--!include ledger/keep_count.sql
--!include ledger/keep_figures.sql
--!include ledger/keep_fulfillment_figures.sql
--!include ledger/keep_fulfillment_line_figures.sql
--!include ledger/keep_fulfillment_order_figures.sql
--!include ledger/keep_fulfillment_order_line_figures.sql
--!include ledger/keep_invoice_figures.sql
--!include ledger/keep_invoice_line_figures.sql
--!include ledger/keep_label_figures.sql
--!include ledger/keep_order_figures.sql
--!include ledger/keep_order_line_figures.sql
--!include ledger/keep_saleable_stock.sql
--!include ledger/keep_tracking_codes.sql
--!include ledger/lock.sql
--!include ledger/lock_orders.sql
--!include ledger/lock_shipment.sql
--!include ledger/moved_since.sql
--!include ledger/note_counts.sql
--!include ledger/number_movements.sql
--!include ledger/pick_units.sql
--!include ledger/post.sql
--!include ledger/prepare.sql
--!include ledger/read_counts.sql
--!include ledger/require_movement_places.sql
--!include ledger/require_stock.sql
--!include ledger/set_stock.sql
--!include ledger/warn_of_promises.sql
--!include mutation/broken_rule.sql
--!include mutation/digest.sql
--!include mutation/keep_answer.sql
--!include mutation/run.sql
--!include mutation/take_key.sql
--!include mutation/user_error.sql
--!include mutation/warn.sql
