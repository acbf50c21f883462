-- Comments and messages in plain words. Only functions whose messages change are included.

--!include erp/anonymize_customer.sql
--!include erp/cancel_fulfillment.sql
--!include erp/lock_fulfillment_order.sql
--!include erp/cancel_order.sql
--!include erp/change_supplier_of_receipt.sql
--!include erp/check_receipt_suppliers.sql
--!include erp/check_goods_receipt_lines.sql
--!include erp/create_document.sql
--!include erp/create_fulfillment_order.sql
--!include erp/create_invoice.sql
--!include erp/create_order_document.sql
--!include erp/excess_warning.sql
--!include erp/faults_of_order_lines.sql
--!include erp/faults_of_orders_named.sql
--!include erp/faults_of_things_named.sql
--!include erp/require_places.sql
--!include erp/insert_document.sql
--!include erp/next_state.sql
--!include erp/keep_currency_factor.sql
--!include erp/plan_uncovered.sql
--!include erp/require_active_supplier.sql
--!include erp/require_all_shipped.sql
--!include erp/require_assignable_lines.sql
--!include erp/require_documents.sql
--!include erp/require_fulfillments.sql
--!include erp/require_shipping_lines.sql
--!include erp/upsert_products.sql
--!include erp/upsert_warehouses.sql
--!include erp/with_translations.sql
--!include ledger/check_form.sql
--!include ledger/check_references.sql
--!include ledger/require_movement_places.sql
--!include ledger/require_stock.sql
--!include ledger/set_stock.sql
--!include ledger/take_back.sql
--!include ledger/warn_of_promises.sql
--!include mutation/broken_rule.sql
--!include mutation/match_rows.sql
--!include mutation/refuse_nulls.sql
--!include events/count_subscriptions.sql
--!include events/replay_deliveries.sql
--!include events/require_scope.sql
--!include events/require_settings.sql
--!include events/schema.sql
--!include events/value_schema.sql
--!include events/send_again.sql
--!include auth/limit_credential.sql
--!include auth/retire_signing_key.sql
--!include auth/rotate_credential.sql
--!include auth/publish_operations.sql
--!include bulk/run_export.sql
--!include bulk/take.sql
--!include events/topics.sql

comment on schema ledger is
  'Stock movements and their booking, and the proof that every stored figure follows from them.';
comment on function ledger.adjust_stock(ledger.line[], text) is
  'Adjusts stock: books additions and removals against stock_correction.';
comment on function ledger.adjustment_of(text[], uuid, integer, uuid, text, text, boolean) is
  'Returns the draft of a booking of stockAdjust or stockSet: units that are added or removed, against '
  'stock_correction.';
comment on function ledger.apply_fulfillment_changes(ledger.change[], ledger.change[], uuid[]) is
  'Updates figures after lines of fulfillment orders changed. Takes the locks first. The parameter changes '
  'has units still to be fulfilled, by fulfillment order and product; shipped has fulfilled units, by line '
  'of the order. The fulfillment orders in touched may be partially fulfilled now.';
comment on function ledger.await_bookings() is
  'Trigger after stock was deleted alone, without its product or place: waits for bookings of the product. '
  'A count that finds the stock right writes nothing to it, so a deletion would neither wait for it nor see '
  'that it has to delete the count, too (api_meta.follow_deletion).';
comment on function ledger.book(ledger.draft[], text, ledger.figure_change[]) is
  'Books movements whose locks have been taken. Checks that no real place is left with a negative quantity '
  'of a product or a batch, and writes each row once, including other figures that change with the '
  'movements. Returns the movements in the order of the drafts, and the stock that they changed. User '
  'errors INSUFFICIENT_STOCK, BATCH_REQUIRED, PRODUCT_HAS_VARIANTS. Callers must be marked by '
  'api_meta.plan_by_index.';
comment on function ledger.book_correction(ledger.draft, ledger.call[]) is
  'Books one movement between a warehouse or bin and a special place by simple statements. They take two '
  'thirds of the time of ledger.write, with the same result. Returns the movement, the stock, and whether '
  'available stock is below 0 now. Returns nulls, and books nothing, if ledger.plain_place returns no row '
  'or the place has too little stock. The product is locked. Callers must be marked by '
  'api_meta.plan_by_index.';
comment on function ledger.book_singles(ledger.single[]) is
  'Books mutations of stock with one line each in a group commit, as if one came after the other. Takes the '
  'locks, then writes movements and counts of all that qualify for the single-line path. Returns the '
  'mutations that it booked.';
comment on function ledger.broken_rules() is
  'Returns rows that break a check or a foreign key that is declared as not enforced '
  '(api_meta.derive_rules, api_meta.derive_references), with the name of that constraint.';
comment on type ledger.call is
  'One booking, alone or in a group commit: the moment and the note of its movements, and the cause of its '
  'events.';
comment on function ledger.carry_counts(uuid[], uuid) is
  'Repeats the latest count of stock, or of one batch of it, at the same moment, so that the present ledger '
  'is right. For movements that are inserted with an earlier moment, which the count did not include.';
comment on function ledger.changed_parts(ledger.place_change[], ledger.figure_change[]) is
  'Returns how much a booking, and the changes that accompany it, change the figures of each product: by '
  'warehouse, and without a warehouse.';
comment on function ledger.check_expectations(ledger.line[]) is
  'Refuses lines of a mutation of stock that expect another quantity than the present one. User error '
  'QUANTITY_CHANGED.';
comment on function ledger.check_variants(ledger.draft[]) is
  'Checks drafts that bring a product into a place although it only stands for its variants. Counts and '
  'corrections that would add units are refused with the user error PRODUCT_HAS_VARIANTS. Units that '
  'arrive, come back or are moved are booked with a warning of that name, because old stock must be '
  'movable.';
comment on function ledger.counted_quantity(uuid, uuid, timestamptz) is
  'Returns the quantity that a count at a moment must have found, of stock or of one batch of it, for the '
  'present ledger to be right.';
comment on function ledger.draft_of_single(text, ledger.line, integer) is
  'Returns the draft of a mutation of stock with one line (set, adjust or transfer) that changes the stock '
  'of its first place by this quantity.';
comment on function ledger.examine(ledger.leg[]) is
  'Returns the changes that legs of movements make, one for each product and place. The result needs_care '
  'says that they may have to be refused or warned about. That is rare: batches or variants are involved, '
  'or a place has too little. The result recounted is stock with a known count after the moment of a leg. '
  'The products are locked. Callers must be marked by api_meta.plan_by_index.';
comment on type ledger.figure_change is
  'A change of figures of a product that accompanies a booking: units promised by fulfillment orders, '
  'reserved by orders, or awaited from supplier orders. Only promised units have a warehouse.';
comment on function ledger.fill_configured_stock() is
  'Trigger: fills a new configuration of a product with the present stock at its place.';
comment on view ledger.flow is
  'Each movement as two rows: the arrival at its destination and, negative, the departure from its source. '
  'The column place is the key of ledger.stock, null once the place was deleted; direction is 1 or -1. The '
  'column booked_at is the exact moment, of which created_at is the second. The column is_count marks '
  'corrections after counts. There are no joins: with one, Postgres could not look up single movements by '
  'index.';
comment on function ledger.follow_states(uuid[]) is
  'Updates promised units after a shipment changed the state of fulfillment orders that have units left. '
  'Promises end if it closed them, because their order lines were deleted; promises begin if an added '
  'transition opened them. Only for erp.ship.';
comment on function ledger.is_count(text, text, text) is
  'Whether a movement of this process, between these special places if any, corrects the ledger after a '
  'count. Then no goods moved.';
comment on function ledger.is_malformed(ledger.line, text) is
  'Whether ledger.check_form finds a fault in a line; a cheap test, because faults are rare.';
comment on function ledger.is_malformed(ledger.line[], text) is
  'Whether ledger.check_form finds a fault; a cheap test, because faults are rare.';
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted by anyone but ledger.book: updates the stock of '
  'batches, in each place and in total.';
comment on function ledger.keep_cancellations() is
  'Trigger after documents were inserted, by any writer: a cancellation invoice cancels the invoice that it '
  'refers to. An invoice can be taken back only once, by a cancellation invoice or a credit note. User '
  'error INVALID.';
comment on function ledger.keep_count() is
  'Trigger at the end of a transaction, when batches are known: adds a count for a correction by a count '
  'that was inserted manually or by another program. The count gets the moment of the correction, or of the '
  'latest count if that is later, because the stock has changed since.';
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted by anyone but ledger.book: takes the locks of a booking, and '
  'updates the figures in the same statement.';
comment on function ledger.keep_fulfillment_figures() is
  'Triggers before a fulfillment is deleted and after fulfillments changed: a cancelled one fulfills '
  'nothing any more.';
comment on function ledger.keep_fulfillment_line_figures() is
  'Trigger after lines of fulfillments changed, by any writer: updates the fulfilled quantities of the '
  'lines of fulfillment orders.';
comment on function ledger.keep_fulfillment_order_figures() is
  'Triggers before a fulfillment order is deleted and after fulfillment orders changed: one that opens, '
  'closes or moves to another location changes the reserved quantities of the warehouses.';
comment on function ledger.keep_fulfillment_order_line_figures() is
  'Trigger after lines of fulfillment orders changed, by any writer: updates the reserved quantities of '
  'warehouses, the shipped quantities of order lines, and whether the fulfillment orders are partially '
  'fulfilled.';
comment on function ledger.keep_invoice_figures() is
  'Trigger before an invoice is deleted, while its lines exist, and before it is cancelled or reinstated: a '
  'cancelled invoice charges nothing. Changes by a foreign key must count at once, but a trigger afterwards '
  'would run only after the statement has deleted all of its documents.';
comment on function ledger.keep_invoice_line_figures() is
  'Trigger after lines of invoices changed, by any writer: updates the invoiced quantities of order lines.';
comment on function ledger.keep_label_figures() is
  'Trigger after shipping labels changed: updates the tracking codes of their orders. Outgoing labels count '
  'unless they were cancelled or failed.';
comment on function ledger.keep_location_figures() is
  'Triggers before a location is deleted and after it was given to another warehouse: the promises of its '
  'fulfillment orders go along.';
comment on function ledger.keep_order_amounts() is
  'Trigger before the tax status of an order changes: updates its amounts.';
comment on function ledger.keep_order_figures() is
  'Triggers before an order is deleted and after orders changed: an order that opens or closes changes the '
  'reserved stock of its products.';
comment on function ledger.keep_order_line_figures() is
  'Trigger after lines of orders changed, by any writer: updates the reserved stock of products and the '
  'amounts of the orders.';
comment on function ledger.keep_purchase_figures() is
  'Trigger after supplier orders or their lines changed: updates the open quantity and the time of the last '
  'supplier order of their products.';
comment on function ledger.keep_tracking_codes() is
  'Trigger before the tracking codes of an order are written: the list holds the codes that people entered '
  'and the codes of its outgoing labels, each once. Codes that are written into the list itself count as '
  'entered by a person.';
comment on function ledger.legs_of(ledger.draft[], timestamptz) is
  'Returns both legs of each movement to be booked.';
comment on function ledger.lock(uuid[], uuid[], uuid[]) is
  'Takes the locks of a booking, always in the same order, so that bookings cannot deadlock. The order is: '
  'warehouses, also of the bins; bins, against deletion and changes of their warehouse; products. Only the '
  'holder of a product''s lock changes its stock and figures. Returns whether all were found. Nulls among '
  'the warehouses and bins are ignored.';
comment on function ledger.lock_lines(ledger.line[]) is
  'Takes the locks of ledger.lock for lines of mutations of stock. Returns whether all their products and '
  'places exist, and whether some name batches or expect quantities.';
comment on function ledger.lock_orders(uuid[], uuid[]) is
  'Takes the locks of work on orders, always in the same order and before the locks of ledger.lock: the '
  'orders, then their fulfillment orders. Only the transaction with the lock of an order changes its lines, '
  'states and shipments.';
comment on function ledger.lock_places(ledger.draft[]) is
  'Takes the locks of ledger.lock for the products and places of movements to be booked.';
comment on function ledger.lock_promises(uuid) is
  'Takes the locks of ledger.lock for everything that is reserved and promised for an order, after the '
  'locks of the order, its fulfillment orders and their locations.';
comment on function ledger.lock_shipment(uuid[], uuid[], uuid[]) is
  'Takes all locks for shipping products from warehouses, including the locks of the bins that hold them, '
  'after the locks of the orders. From then on no other transaction changes the stock of these products.';
comment on function ledger.lock_stock(ledger.place_change[]) is
  'Locks the stock of each place of a booking, and fails if some is missing. Stock refers to its product '
  'and place, so these exist, too; nothing else checks that for the movements of a booking '
  '(api_meta.derive_references). Only for ledger.write_missing: most bookings find out by an update.';
comment on function ledger.lock_way_back(uuid) is
  'Takes the locks of ledger.lock to take a fulfillment back: for the products that are returned, reserved '
  'or promised again, and for the places that the units came from.';
comment on function ledger.microseconds(timestamptz) is
  'Returns the microseconds of a moment beyond its second: see ledger.stock_movement.microseconds.';
comment on function ledger.moved_since(uuid, text, uuid, timestamptz) is
  'Returns the units of a product, or of one batch of it, that came to a place after a moment, to the '
  'microsecond, less the units that left it. Corrections by counts are no movements of goods. They are '
  'included only for the place as a whole, if they are from later counts of single batches.';
comment on function ledger.movements_of(ledger.call[], ledger.draft[], uuid[]) is
  'Returns drafts as rows of the ledger with these ids. All drafts belong to one call, or each to a call of '
  'its own.';
comment on function ledger.named_places(ledger.line[], text) is
  'Returns the places of the lines of a mutation of stock, each with the name of its field in the input.';
comment on function ledger.next_movement_id() is
  'Returns a new id for a movement, larger than the id of every movement that was committed before the '
  'transaction. The number of the transaction is always drawn before the id: readers rely on it '
  '(docs/internals/decisions, followed lists).';
comment on function ledger.next_movement_ids(integer) is
  'Returns new ids for the movements of one booking, ascending, as ledger.next_movement_id would.';
comment on function ledger.note_counts(ledger.stock_reading[], uuid[]) is
  'Records counts, also superseded ones, with the movements that corrected the ledger, which are given in '
  'the order of the counts. Products that are kept in batches are counted by batch; their sum is only '
  'compared, not recorded. Only for ledger.set_stock, which has locked them.';
comment on function ledger.number_movements(uuid[]) is
  'Numbers committed movements that have no number yet: the given ones in this order, or, if none are '
  'given, all in the order of their ids. The latter is for movements that were written while triggers were '
  'switched off. The sequencer of events calls it after commits. Returns how many it numbered.';
comment on function ledger.open_stock(uuid[]) is
  'Inserts the missing rows of stock, with quantity 0, for movements.';
comment on function ledger.amounts_of(numeric[], numeric[], text) is
  'Returns the totals with and without tax of lines with these prices and tax rates; no row if no line has '
  'a price. Lines without a tax rate, such as promotions, are taxed at the average of the others.';
comment on function ledger.order_amounts(uuid, text) is
  'Returns the totals of an order with and without tax, from its lines; no row if no line has a price.';
comment on function ledger.pick_units(ledger.pick[]) is
  'Returns the places to take the units of picks from that name no place, in the order of ledger.ship. '
  'Returns fewer units if there are not enough.';
comment on function ledger.picked_lines(ledger.pick[]) is
  'Returns the picked lines of fulfillment orders, with their units and their position among the picks.';
comment on type ledger.place_change is
  'A change of the stock in a place by a booking, or by one call of a group commit. The column place is a '
  'key as in ledger.stock.place, and warehouse_id the warehouse of the place, if any. The column is_new '
  'says that the stock must be created first; not_for_sale is the part of the change that is not for sale.';
comment on function ledger.place_columns(text, text) is
  'Returns a place, given by its kind and its key (see ledger.stock.place), as the columns of tables that '
  'refer to it.';
comment on function ledger.place_of(uuid, uuid) is
  'Returns the kind and the key (see ledger.stock.place) of a warehouse or a bin.';
comment on function ledger.plain_place(uuid, text, text, boolean, timestamptz) is
  'Returns the rows that change when units come to or leave a warehouse or bin: its stock, the stock in a '
  'special place, if given, and the figures that follow. Returns no row if one of these is missing, or if '
  'batches, variants or counts from a moment on need a check. The product is locked.';
comment on function ledger.plain_singles(ledger.single[], timestamptz) is
  'Returns the mutations of stock with one line each that qualify for the single-line path. For each of '
  'their places, ledger.plain_place must return a row and enough stock must be left. No earlier mutation of '
  'the same product may have been left out. Returns a row for each place: the change there, and the number '
  'of the movement, from 1, if there is one. The products are locked.';
comment on function ledger.post(ledger.draft[], text, ledger.figure_change[]) is
  'Books movements: takes the locks, then calls ledger.book. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, PRODUCT_HAS_VARIANTS.';
comment on function ledger.prepare(ledger.line[], text) is
  'Prepares a mutation of stock (set, adjust, transfer): checks its lines and takes the locks of the '
  'booking, so that later reads see what the booking finds. User errors REQUIRED, TOO_MANY_LINES, '
  'OUT_OF_RANGE, INVALID, NOT_UNIQUE, NOT_FOUND, BATCH_MISMATCH, QUANTITY_CHANGED.';
comment on function ledger.product_after(erp.product, bigint, bigint) is
  'Returns a product after a change of its stock and of the part that is not for sale.';
comment on function ledger.promises_kept(ledger.pick[], uuid[]) is
  'Returns the promises and reservations that end when picks are shipped: of their orders, and of their '
  'fulfillment orders, unless these were assigned for this shipment and so promised nothing.';
comment on function ledger.promises_of(ledger.change[]) is
  'Turns changes of fulfillment orders into changes of their warehouses. Closed and cancelled fulfillment '
  'orders promise nothing.';
comment on view ledger.proof is
  'Stored figures that differ from what the ledger and the documents give. Must always be empty.';
comment on function ledger.quantity_at(uuid, text, uuid) is
  'Returns the units of a product, or of one batch of it, in a place (see ledger.stock.place).';
comment on function ledger.read_counts(ledger.line[]) is
  'Compares the lines of stockSet with the ledger. The products are locked. Stock that is counted for the '
  'first time gets a row, even with 0 units.';
comment on function ledger.relocation_of(text[], uuid, integer, uuid, text, text, text, text) is
  'Returns the draft of a booking of stockTransfer: units that go from one place to another.';
comment on function ledger.require_batches(ledger.draft[]) is
  'Refuses movements of products that are kept in batches but name no batch. User error BATCH_REQUIRED.';
comment on function ledger.require_empty_place() is
  'Trigger: refuses to delete a warehouse or a bin that holds stock, or to move such a bin to another '
  'warehouse.';
comment on function ledger.ship(uuid, ledger.pick[], uuid[], text) is
  'Books units out to an order and ends their promises; fulfillment orders that were assigned for this '
  'shipment have promised nothing. Units of picks without a place are taken from the bins of the warehouse '
  'by position, then by code. Units outside of any bin come last, and the oldest batch first. Returns the '
  'movements, each with its line. Before, ledger.lock_shipment must be called. User error '
  'INSUFFICIENT_STOCK, and the user errors of ledger.book.';
comment on type ledger.single is
  'A mutation of stock with one line, in a group commit: the operation (set, adjust or transfer), the line, '
  'the note, and the cause of its events. One without an operation is skipped.';
comment on function ledger.tell_steps(ledger.call[], uuid[], ledger.place_change[]) is
  'Emits the events of several calls, call by call, with the figures as they were after each. Only for '
  'ledger.write, which has written the figures after all calls.';
comment on function ledger.write(
  ledger.call[], ledger.draft[], ledger.place_change[], ledger.figure_change[], ledger.place_change[]
) is
  'Writes bookings of one call or several: adds movements to the ledger, in the order of their drafts, '
  'updates all figures that change, each row once, and emits events. The drafts belong to one call, or each '
  'to a call of its own. Then steps are the changes of each call, and the result is the same as one call '
  'after the other. Events of a call without a cause get the running mutation as their cause. Returns the '
  'movements, and whether available stock that it changed is below 0 now. Everything has been checked and '
  'locked before. Callers must be marked by api_meta.plan_by_index.';
comment on function ledger.write_batch_figures(ledger.leg[]) is
  'Updates the stock of batches after movements, in each place and in total, and emits events. Returns the '
  'batches with a known count after the moment of a leg, each with its stock.';
comment on function ledger.write_batches(ledger.draft[], uuid[]) is
  'Records which batches movements moved. Only for ledger.book.';
comment on function ledger.write_deliveries(erp.delivery[], timestamptz) is
  'Records the received quantities of lines of supplier orders. Only for erp.complete_goods_receipt, which '
  'has subtracted them from the awaited units.';
comment on function
  ledger.write_missing(ledger.call[], ledger.place_change[], ledger.figure_change[]) is
  'Inserts missing rows of stock and warehouse stock, with their figures, and emits their events; in a '
  'group commit no row is missing. Refuses a booking that names a deleted place. Only for ledger.write.';
comment on function ledger.write_order_states(uuid, text, text, text[]) is
  'Writes the states of an order and its tracking codes, and emits events. Only for erp.settle_order, and '
  'for states that do not change what the order reserves: a completed order has shipped everything.';
comment on function ledger.write_rows(
  ledger.call[], ledger.draft[], uuid[], ledger.place_change[], ledger.figure_change[]
) is
  'Adds movements with these ids, updates stock, warehouse stock, products and their configurations, and '
  'emits events if there is one call. Returns whether available stock is below 0 now, and whether rows were '
  'missing. Add a new figure here. Add it to ledger.book_correction, too, if mutations of stock change it, '
  'and to ledger.product_after if it belongs to products. Only for ledger.write.';
comment on function ledger.write_shipment(text, ledger.pick[], uuid[], uuid[]) is
  'Records a fulfillment: its lines, the movements of each line, and what is fulfilled, shipped and closed '
  'by it, and emits events. Returns the fulfillment, its fulfillment orders, and the ones with units left '
  'whose promises ended or began. Only for erp.ship: ledger.ship has booked the units and updated the other '
  'figures.';
comment on type ledger.booking is
  'The result of a booking: ids of its movements and of the stock that they changed.';
comment on type ledger.change is
  'A change of the quantity of an item for its owner. The item is a product and the owner an order, a '
  'fulfillment order or a warehouse; or the item is a line and the owner a fulfillment.';
comment on type ledger.draft is
  'A movement to be booked. The columns source and destination are keys of places as in ledger.stock.place; '
  'field is the path to the quantity in the input, for user errors.';
comment on type ledger.leg is
  'One end of a movement: the change of the stock in a place, negative where units leave. The column place '
  'is a key as in ledger.stock.place; is_count marks corrections after counts.';
comment on type ledger.line is
  'A line of a mutation of stock. If it has only one place, that is the source; quantity is then a target '
  'or, for adjustments, a change.';
comment on type ledger.named_place is 'A place of a line, with the name of its field in the input.';
comment on type ledger.pick is
  'Units of a line of a fulfillment order that are to be shipped from a warehouse. The column place is a '
  'key as in ledger.stock.place, null while it is still to be chosen; field is the path to the quantity in '
  'the input, for user errors.';
comment on type ledger.stock_reading is
  'A line of stockSet. It has the counted quantity, the units that have moved since, the present quantity '
  'in the ledger, and a newer count if there is one; then moved is null.';
comment on table ledger.batch_stock is
  'The part of the stock in a place that belongs to a batch. The rest belongs to no batch. Special places '
  'have no batches.';
comment on table ledger.movement_sequence is
  'Numbers of movements, assigned after the commit, without gaps. A number stays after its movement was '
  'deleted with its product, so that readers notice what they have missed.';
comment on column ledger.movement_sequence.movement_id is 'The movement, which may have been deleted.';
comment on table ledger.special_stock_location is
  'Special places, which do not exist physically: stock comes from them or goes to them when it enters or '
  'leaves the ledger.';
comment on table ledger.stock is
  'The stock of a product in a place: the sum of its movements in, less its movements out.';
comment on column ledger.stock.product_id is 'Product in the place.';
comment on table ledger.stock_count is
  'Counts of stock. Of several counts of a stock, or of one batch of it, the one with the latest moment '
  'applies; of equal moments, the one recorded last. The stock is the counted quantity and what has moved '
  'since (ledger.moved_since). A count of the whole stock also applies to its batches. Rows are never '
  'changed. Counts from before this table existed left only their corrections.';
comment on column ledger.stock_count.id is 'Id, ascending in the order in which counts were recorded.';
comment on column ledger.stock_count.stock_id is
  'The counted stock: a product in a place. Counts are deleted with the place.';
comment on column ledger.stock_count.batch_id is 'The counted batch; null if the whole stock was counted.';
comment on column ledger.stock_count.quantity is
  'Counted units. May be negative in rows that keep the ledger right after movements with an earlier moment '
  'were inserted.';
comment on column ledger.stock_count.counted_at is 'Moment of the count, to the microsecond.';
comment on column ledger.stock_count.difference is
  'Units that the count added to the ledger, negative if it removed some. Null if it was superseded: a '
  'later count of the same stock and batch, or of the whole stock, was known already.';
comment on column ledger.stock_count.stock_movement_id is
  'The movement that corrected the ledger; null if the ledger was right.';
comment on column ledger.stock_movement.transaction_id is
  'Number of the transaction that booked the movement, by which readers find out which movements they could '
  'see; null if that transaction ended long ago.';
comment on column ledger.stock_movement.microseconds is
  'Microseconds of the exact moment of the booking beyond the second in created_at. 0 where only the second '
  'is known.';
comment on constraint stock_movement_process_type_technical_name_fkey on ledger.stock_movement is
  '@unindexed No list is filtered by it, and process types are hardly ever deleted; an index would take a '
  'sixth of the space of all indexes of the table.';
comment on index ledger.stock_movement_product_id_created_at_idx is
  'For ledger.moved_since, and for movements of a product in a period.';
comment on index ledger.stock_movement_transaction_id_idx is 'For clients that follow the list.';
comment on table ledger.stock_movement_batch is 'Units of batches that a movement moved.';
comment on table ledger.warehouse_stock is 'Units of a product in a warehouse, including its bins.';
comment on column ledger.warehouse_stock.product_id is 'The product.';
comment on column ledger.warehouse_stock.available_quantity is
  'Quantity less reserved quantity. Negative if more was promised than there is.';

comment on schema mutation is
  'Everything that all mutations share: the entry point, idempotency keys, user errors.';
comment on function mutation.answers_about(uuid) is
  'Returns the idempotency keys whose stored payloads name a customer or one of its orders.';
comment on function mutation.caller() is
  'Returns the credential of the request, which owns idempotency keys; the nil uuid without a credential.';
comment on function mutation.defaults_of(regclass) is
  'Returns SQL for an object with the default values of a table''s columns, evaluated again for each row.';
comment on function mutation.derive_operations() is
  'Records the properties of each mutation for mutation.run, from the functions of the API schemas and the '
  'tags of their comments. Runs after each migration, and changes only what differs.';
comment on function mutation.digest(name, regtype, jsonb, boolean) is
  'Returns what an idempotency key stands for: SHA-256 of the name of a mutation and of the meaning of its '
  'input. Equal moments are equal in any spelling. Null means the same as omitting the field, except in '
  'mutations that take changes, where null clears a field. The version does not count, nor do fields that a '
  'later version adds and a caller omits.';
comment on function mutation.faults_of_columns(regclass) is
  'Returns SQL that finds the faults of a row w of mutation.row_faults by itself. It finds nulls in '
  'required columns that mutations change, violated checks, foreign keys to missing rows, and texts that '
  'are too long for an index. It runs row by row, because reading many long rows again for each rule takes '
  'seconds.';
comment on function mutation.faults_of_keys(regclass) is
  'Returns SQL that finds rows of mutation.row_faults with a unique key that another row has after the '
  'call. Keys that rows of the call give up are free. Null if the table has no unique key.';
comment on function mutation.find(name, name) is
  'Returns the function of a mutation, the type of its input, whether it takes changes, and the payload '
  'columns that are shown once, as recorded by mutation.derive_operations. Fails if there is no mutation of '
  'that name, or the caller lacks its scope.';
comment on function mutation.forget_keys() is 'Removes some expired idempotency keys.';
comment on function mutation.free_keys(regclass, mutation.upsert_row[], text[]) is
  'Frees unique keys that rows of an upsert take from each other: Postgres checks each row by itself, and '
  'would refuse rows that swap keys. Their holders have their own id as a key until they are written, which '
  'no event reports.';
comment on type mutation.joint_call is
  'A call in a group commit: its kind (set, adjust or transfer) and line, whether it fits the single-line '
  'path, and the cause of its events. With an idempotency key, also the digest, and the payload of the '
  'earlier call with this key.';
comment on function mutation.joint_calls(jsonb) is
  'Returns the calls of stock_adjust, stock_set and stock_transfer among the calls of '
  'mutation.run_together. They fit the single-line path if they have one line with only the usual fields, '
  'and the caller has the scope.';
comment on function mutation.keep_answer(text, bytea, jsonb, timestamptz) is
  'Stores the result of the running mutation for repetitions with its idempotency key, with the digest of '
  'its input: its payload or, with a moment, its user errors. One call in eight removes some expired keys.';
comment on function mutation.key_lifetime() is
  'Returns how long an idempotency key is kept: the setting service.keep_idempotency_keys, but at least the '
  '24 hours that clients are promised.';
comment on function mutation.key_lock(uuid, text) is
  'Returns the advisory lock of an idempotency key. Its holder finds out whether the key is taken, without '
  'waiting for the transaction that takes it.';
comment on function mutation.match_of(regclass, text[], text) is
  'Returns SQL for the id of the row of a table that a given row r refers to. That is the row with its id, '
  'else the first that a match finds and that is not in others, an array of ids.';
comment on function mutation.order_of_keys(regclass) is
  'Returns SQL for the order in which rows r are inserted into a table: by its unique keys.';
comment on function mutation.path(text, bigint, text[]) is
  'Returns the path to an element of a list in the input, or to a field of it, for user errors. Lines are '
  'counted from 1.';
comment on function mutation.prune_keys(integer) is
  'Removes expired idempotency keys that no mutation has removed, at most as many as the batch. Returns how '
  'many: call it again until that is 0.';
comment on function mutation.refuse(jsonb) is
  'Ends the mutation with an array of user errors; does nothing if the array is empty or null. SQLSTATE '
  'UE001, with the array as detail.';
comment on function mutation.refuse_missing(text, text[]) is
  'Ends the mutation because an id in the input does not exist. User error NOT_FOUND.';
comment on function mutation.refuse_too_many(integer, integer, text[]) is
  'Ends the mutation if a list of the input is too long. User error TOO_MANY_LINES.';
comment on function mutation.rehearse() is
  'Rehearses a booking of stock and a shipment, with validate_only, on a new connection, so that Postgres '
  'reads its catalog, compiles and plans before the first request. Waits for locks for 50 ms, does nothing '
  'in an empty shop, and leaves nothing behind but unused numbers of fulfillments.';
comment on function mutation.require_rows(mutation.upsert_row[], boolean) is
  'Ends an upsert that has refused rows, unless it is partial.';
comment on function mutation.row_faults(regclass, mutation.upsert_row[], text[]) is
  'Returns the faults of the rows of an upsert by the rules of the table: not null, checks, foreign and '
  'unique keys, with the user errors in their comments. One statement, built from the catalog, checks all '
  'rows and rules.';
comment on function mutation.run(name, name, jsonb, text, boolean, jsonb, timestamptz) is
  'Runs a mutation: the function of that name in the API schema of a version, with its input as JSON. The '
  'only entry point for service_api: needs the scope in the tag @requiresScopes of the function''s comment. '
  'Returns {payload, userErrors, warnings}; with user errors nothing has been changed, and there are no '
  'warnings. With an idempotency key, a repetition within 24 hours returns the first payload and its '
  'warnings again. A refusal with a key is stored, too: a call with that key gets it again, with a field '
  'refusal, unless newer_than is its moment (see mutation.take_key). The parameter refusals has user errors '
  'of earlier checks. With validate_only everything is undone, and the payload is null. Other errors are '
  'raised: UE003 if the plan allows no mutations, internal faults, and conflicts that are worth another '
  'try.';
comment on function mutation.run_together(jsonb) is
  'Runs calls of mutations in a group commit, as if mutation.run ran one after the other. Takes an array of '
  'objects with version, operation, input, key, credential_id, request_id, scopes and traceparent. Returns '
  'an array: for each call the result of mutation.run, or null if the caller must use mutation.run. Null is '
  'returned for calls that do not fit the single-line path, may be refused, or would wait for an '
  'idempotency key, and for later calls of the same product.';
comment on function mutation.take_key(text, bytea, name, jsonb, boolean, timestamptz) is
  'Takes an idempotency key for the running mutation, which holds its lock; mutation.keep_answer stores it. '
  'Returns null if the key is free. Otherwise returns the result of the earlier call with the key, or '
  'IDEMPOTENCY_KEY_MISMATCH if that call had another input. A refusal holds the key for calls that arrived '
  'before it. Only the caller knows whether its own did, so the result has a field refusal, with the moment '
  'and the age of the refusal. The caller then calls again: with this moment as newer_than for a new try, '
  'or with -infinity for the final refusal. With validate_only, refusals are ignored.';
comment on function mutation.take_keys(mutation.joint_call[]) is
  'Returns the calls, of which only some still fit the single-line path. They have no idempotency key or a '
  'free one, or repeat a call that has a result. Keys that stand for another input, or have expired, are '
  'left to mutation.run.';
comment on function mutation.thing(regclass) is
  'Returns the everyday name of a row of a table, for messages.';
comment on type mutation.upsert_row is
  'A row of an upsert in progress. It has its place in the input, from 1; the id of its object, which may '
  'be new; the caller''s input; the present and the wanted row of the table. It also has whether something '
  'was written, and the user errors that refuse it, or null.';
comment on type mutation.row_fault is
  'A fault of a row of an upsert: the place of the row in the input, and a user error whose field is a path '
  'within the row.';
comment on function mutation.upserted(mutation.upsert_row[]) is
  'Returns the outcome of each row of an upsert, in the form of upsert_result, and the ids of the rows that '
  'are not refused, in their order.';
comment on function mutation.user_error(text, text, text[], jsonb) is
  'Returns one user error: a code of api_unstable.user_error_code, a message, the path to the wrong input '
  'in names of columns (such as {lines,0,quantity}), and further facts.';
comment on function mutation.violation(name, name, name) is
  'Returns the user error of a violated constraint, from the constraint''s comment: @userError CODE column, '
  'and on the next line a message. Null if the comment has none: then the violation is an internal fault.';
comment on function mutation.warn(jsonb) is
  'Adds an array of warnings to the running mutation, each as mutation.user_error returns it; does nothing '
  'if the array is empty or null. mutation.run returns them if the mutation succeeds. A rollback to a '
  'savepoint removes the warnings since then.';
comment on function mutation.warn(text, text, text[], jsonb) is
  'Adds a warning to the running mutation: a code of api_unstable.warning_code, a message, the path to the '
  'input in names of columns (such as {lines,0,quantity}), and further facts.';
comment on function mutation.warnings() is
  'Returns the warnings of the running mutation, as added by mutation.warn. They live as long as its '
  'transaction.';
comment on function mutation.with_changes(mutation.upsert_row[], uuid[]) is
  'Returns the rows of an upsert, of which the rows with these ids are marked as changed, because something '
  'that belongs to them was.';
comment on function mutation.with_faults(mutation.upsert_row[], text, mutation.row_fault[]) is
  'Refuses rows of an upsert for these faults, in addition to the faults that they have.';
comment on function mutation.with_faults_of_taken_keys(regclass, mutation.upsert_row[], text, boolean) is
  'Refuses rows of a partial upsert that want the unique key of another row, if that row is refused and so '
  'keeps it.';
comment on function mutation.with_values(mutation.upsert_row[], jsonb) is
  'Returns the rows of an upsert with other values of columns, given as an object by the places of the '
  'rows; null changes nothing.';
comment on function mutation.write_rows(regclass, mutation.upsert_row[]) is
  'Writes the rows of an upsert that are not refused: new ones in the order of their unique key, so that '
  'two calls cannot deadlock, and rows that differ. Unchanged rows are not touched.';
comment on table mutation.idempotency_key is
  'Idempotency keys of the last 24 hours, by credential, with their mutations. Written in the transaction '
  'of the mutation''s effect or refusal.';
comment on column mutation.idempotency_key.request is
  'SHA-256 of the name of the mutation and of the meaning of its input, by mutation.digest.';
comment on column mutation.idempotency_key.payload is
  'The stored result: the payload, with ids instead of objects, and warnings; for a refused mutation, its '
  'user errors.';
comment on column mutation.idempotency_key.refused_at is
  'When the mutation was refused; null if it succeeded. A call that arrived later may use the key again.';
comment on constraint idempotency_key_pkey on mutation.idempotency_key is
  '@internal take_key() refuses empty keys, and another input with the same key';
comment on index mutation.idempotency_key_created_at_idx is 'For the removal of expired keys.';
comment on table mutation.operation is
  'Mutations, with the properties that mutation.run needs. Derived from the functions of the API schemas '
  'after each migration.';

comment on schema events is 'Webhook subscriptions, and the events that are delivered to them.';
comment on function events.announce_growth() is
  'Notifies listeners on the channel service_events that the log has grown, once that is committed.';
comment on function events.announcement(events.subject, text, text) is
  'Returns SQL for the events that rows of a subject cause: topic, subject, entity, data, changed fields. '
  'The source names the new row n, the old one o, and the changed fields of an update c.changed. Null if '
  'there are none.';
comment on function events.anonymous_data(text, uuid, jsonb) is
  'Returns the data of an event without what identifies a customer. Data that is anonymous already stays '
  'the same.';
comment on function events.backlog() is
  'Returns the backlog: the number of changes in the outbox and of pending deliveries, the age of the '
  'oldest, and the number of subscriptions by health. Of the outbox it counts up to 10,001 rows, so that it '
  'stays cheap with any backlog.';
comment on function events.caller() is 'Returns the credential of the request.';
comment on function events.cancel_deliveries(uuid[]) is
  'Cancels pending deliveries, and removes them from their queues. Returns how many.';
comment on function events.cause(text, text, text) is
  'Returns the cause of an event: the credential, the request and the idempotency key of a mutation.';
comment on function events.traced(jsonb, text) is
  'Returns a cause with the trace of its request, in W3C format. The sequencer stores it apart from the '
  'cause, which clients see.';
comment on function events.cause() is
  'Returns the cause of events: credential, request and idempotency key of the running mutation, nulls '
  'outside of one, and the trace of the request, if it has one.';
comment on function events.changed_expression(events.subject, boolean) is
  'Returns SQL for the names of the fields that differ between the old row o of a subject and the new row '
  'n. These may be all fields, or the fields that a booking may change.';
comment on function events.claim_delivery_queues(text, integer, integer, jsonb, interval, jsonb, integer) is
  'Claims due queues for the length of the lease, and returns their first deliveries. The parameter busy is '
  'the number of queues of each subscription that the process is sending; hanging is how many of these have '
  'taken long. Together with them, a credential gets at most credential_share queues, a subscription at '
  'most share, and a degraded subscription a single one that does not hang. A suspended subscription is '
  'only probed from time to time, and a paused one is tried after its pause: by one process, with the queue '
  'that has waited longest. The same holds for a degraded one that has not been tried for a while. Nothing '
  'is claimed while the plan has no API.';
comment on function events.claimed_delivery(uuid, uuid, text) is
  'Returns the first delivery of a claimed queue without a recorded outcome, with the ones that follow. '
  'Returns none while the subscription is disabled or the plan has no API. It takes no locks.';
comment on function events.concerns(text[], text[]) is
  'Whether a subscription to changes of some fields wants an event. It wants every event that is no update.';
comment on function events.create_webhook_subscription(text, text, text, text[], text, boolean) is
  'Subscribes the caller to a topic. Returns the id; the secret has to be created afterwards. User errors '
  'INVALID, SCOPE_MISSING, URL_FORBIDDEN.';
comment on function events.data_columns(events.subject, text[], text) is
  'Returns SQL for the data of an event: the given fields, or all, from a row with an alias, in the '
  'spelling of the API. An id may consist of several columns, with commas between them.';
comment on function events.delete_webhook_subscription(uuid) is
  'Deletes a subscription with its secrets and deliveries. Returns its id.';
comment on function events.make_announcer(text, text, regclass, text) is
  'Creates the function of a trigger that writes the events of rows into the outbox, unless it is up to '
  'date.';
comment on function events.derive_announcements() is
  'Creates the triggers that write declared events and, for tables that bookings write to, the functions by '
  'which bookings write the same events. Runs after each migration.';
comment on function events.derive_booked_events(events.subject, text) is
  'Creates the function that returns the events of a booking''s change of a row: the same events as the '
  'trigger''s.';
comment on function events.derive_scopes() is
  'Lets the scopes of all topics read the log of events: writes them into the comment of its view.';
comment on function events.disable_webhook_subscription(uuid) is
  'Stops a subscription for a client, as events.stop_subscription does.';
comment on function events.drop_waiting(uuid, integer) is
  'Cancels pending deliveries to a subscription, at most as many as the batch. Returns how many: call it '
  'again until that is less than the batch.';
comment on function events.due_at() is
  'Returns when there is work next: -infinity while committed changes are not in the log yet, otherwise '
  'when events.claim_delivery_queues will find an unclaimed queue; null if there is none. A service with '
  'many merchants sleeps until then.';
comment on function events.enable_webhook_subscription(uuid) is
  'Resumes a subscription for a client, as events.resume_subscription does; from then on the subscription '
  'belongs to the caller. Returns its id.';
comment on function events.enqueue(uuid[]) is
  'Adds deliveries that have just become pending to their queues, which are tried at once. The caller has '
  'locked the subscriptions.';
comment on function events.entity_columns(events.subject) is
  'Returns the columns by which events of a subject are kept in order; without such columns, the columns of '
  'its key.';
comment on function events.event_id(bigint) is
  'Returns a new id for the event with this number. Ids sort as the numbers do.';
comment on function events.fan_out(bigint, bigint) is
  'Creates the deliveries of new events of the log, one for each enabled subscription that wants the event.';
comment on function events.host_of(text) is
  'Returns the host name or address in a web address, without the brackets of IPv6; null if there is none, '
  'or if the web address has a user name.';
comment on function events.is_exact(events.field) is
  'Whether bigint and numeric are texts in the view of a field''s subject, so that no digit is lost.';
comment on function events.is_forbidden_host(text) is
  'Whether webhooks to a host are forbidden, judging by its name: addresses outside of the public internet, '
  'and names that usually lead to such. The operator allows names, addresses and ranges by the setting '
  'service.webhook_allow. The address that a name resolves to is checked at each delivery.';
comment on function events.is_private_address(inet) is
  'Whether an address is outside of the public internet: private, loopback, link-local, shared, reserved or '
  'multicast.';
comment on function events.key_columns(regclass) is 'Returns the columns of the primary key of a table.';
comment on function events.key_uuid(jsonb[]) is
  'Returns a uuid for a key of other types, so that events of equal keys are kept in order. It depends on '
  'the key alone.';
comment on function events.lifetime() is
  'Returns how long events and their deliveries are kept: the setting service.keep_events, but at least the '
  '30 days that subscribers are promised.';
comment on function events.attempt_lifetime() is
  'Returns how long attempts to send webhooks are kept, with their responses: the setting '
  'service.keep_webhook_attempts, or 30 days without it. At least 7 days, in which all attempts are made.';
comment on function events.lock_subscription(uuid) is
  'Locks a subscription to work on it for a client, and returns it. Every way to make it send something, or '
  'to change its address, needs the scope of its topic. User errors NOT_FOUND, SCOPE_MISSING.';
comment on function events.locked_subscription(uuid) is
  'Locks a subscription to work on it, and returns it. User error NOT_FOUND.';
comment on view events.message is
  'The message of each delivery, unless a payload query reads the data. events.schema describes it. The '
  'message of a test, which is no event of the log, contains the subscription itself.';
comment on function events.message_body(uuid) is
  'Returns the body that a delivery sends, unless a payload query reads the data. events.schema describes '
  'it.';
comment on function events.new_secret(uuid) is
  'Stores the new secret of a subscription that the service has generated (settings service.new_secret_id '
  'and service.new_secret). Returns its id, which the service replaces by the secret, once. The previous '
  'secret also signs for another 24 hours.';
comment on function events.next_deliveries(jsonb) is
  'Returns the next deliveries of queues that continue after events.record_attempts.';
comment on view events.next_delivery is
  'The next delivery of each queue, with everything that is needed to send it: secrets as they are stored, '
  'with their ids. The column withheld is the reason why it must not be sent, null if it may be sent. The '
  'column is_early says that the queue was taken before its schedule, to check whether the receiver '
  'responds again. The column following has up to nine later deliveries of the queue, which are sent one '
  'after the other while each is accepted.';
comment on function events.prune(integer) is
  'Deletes events that were recorded longer ago than events.lifetime(), with their deliveries, and old '
  'tests, at most as many of each as the batch; also deletes expired secrets. Returns how many: call it '
  'again until that is 0.';
comment on function events.prune_attempts(integer) is
  'Deletes attempts to send webhooks that are older than events.attempt_lifetime(), at most as many as the '
  'batch. Returns how many: call it again until that is 0.';
comment on function events.readable_topics() is
  'Returns the topics whose subjects the caller may read. The policy of the log calls it once per '
  'statement.';
comment on function events.record_attempts(jsonb, jsonb, interval) is
  'Records the outcome of deliveries, and the new state of their subscriptions, whose locks the caller '
  'holds. A queue may have several outcomes if all but the last are successes. Queues that continue stay '
  'claimed for another lease, unless the plan has no API any more; returns their next deliveries. A '
  'delay_ms of null leaves the time of the next attempt unchanged. If a claim was lost, the outcome of its '
  'delivery still counts, because the receiver has it, but the queue stays unchanged.';
comment on function events.renew_claims(text[], interval) is
  'Extends the leases of the queues of claims, and returns these queues. A missing one was taken by another '
  'process, is empty, or will be renewed the next time.';
comment on function events.require_enabled(events.webhook_subscription) is
  'Refuses to send anything for a disabled subscription. User error INVALID_STATE_TRANSITION.';
comment on function events.resume_subscription(uuid) is
  'Resumes a subscription, with the credential that it belongs to: pending deliveries are sent at once, and '
  'its failures are reset. User errors NOT_FOUND, INVALID, URL_FORBIDDEN.';
comment on function events.retract(uuid[], bigint) is
  'Deletes the events about these subjects that the running transaction has written after a position, '
  'because it changes the subjects again. It holds their locks, so no other transaction has written events '
  'about them since.';
comment on function events.retry_delivery(uuid) is
  'Sends a delivery again for a client, as events.send_again does. Returns its id.';
comment on function events.rotate_webhook_secret(uuid) is
  'Gives a subscription a new secret, and returns the secret''s id.';
comment on function events.scopes_of_subscription(uuid) is
  'Returns the scopes that the messages of a subscription may use; called at every attempt. They are the '
  'present scopes of the subscription''s credential, or all scopes if an administrator created it. Returns '
  'null if nothing may be sent. Then the credential is deleted, deactivated or expired, lacks the scope of '
  'the topic, or may only send stored operations and the query of the subscription is none.';
comment on function events.send_test(uuid) is
  'Sends a test to a subscription: an event of the topic webhook_subscription.test. Returns the delivery. '
  'User errors NOT_FOUND, INVALID_STATE_TRANSITION.';
comment on function events.sequence_events(integer) is
  'Moves committed changes from the outbox into the log, at most a batch, and creates their deliveries. '
  'Changes that become visible later get later numbers, so readers of the log miss nothing, and events of '
  'one entity keep their order. Also numbers stock movements. Notifies listeners on the channel '
  'service_events. Returns how many events it moved, or null while another process is doing the same.';
comment on function events.sequences_about(uuid[], bigint) is
  'Returns the events about subjects that belong to customers, by the index of topics, because most events '
  'are about stock.';
comment on function events.settle_delivery_queues(jsonb, jsonb, timestamptz) is
  'Updates delivery queues after events.record_attempts: deletes empty ones, and makes all queues of a '
  'subscription due at once, or never, if its new state demands that.';
comment on function events.stop_subscription(uuid, text) is
  'Stops a subscription. Pending deliveries wait until it is enabled again; it does not receive events that '
  'happen in between.';
comment on function events.test_webhook_subscription(uuid) is
  'Sends a test to a subscription for a client, as events.send_test does. Returns the delivery.';
comment on function events.update_webhook_subscription(uuid, jsonb) is
  'Changes the properties of a subscription that the object names. Its topic stays, because deliveries of '
  'it may be pending. Returns its id.';
comment on function events.uuid_expression(regclass, name[], text) is
  'Returns SQL for the uuid of columns of a row with an alias. That is the value of the only column if it '
  'is a uuid, otherwise a uuid that is computed from them.';
comment on table events.delivery is 'An event for one subscription. Kept as long as the event.';
comment on column events.delivery.sequence is
  'Number of the event in the log; null for a test, which is not in the log.';
comment on column events.delivery.previous_sequence is
  'Sequence of the previous event for the subscription; null for the first one. A receiver that has not '
  'received that event has missed something.';
comment on constraint delivery_is_one_per_event_and_subscription on events.delivery is
  '@internal replay_deliveries() and send_test() skip existing deliveries';
comment on table events.delivery_attempt is 'Attempts to deliver, with their outcome.';
comment on column events.delivery_attempt.number is 'Number of the attempt at this delivery, from 1.';
comment on column events.delivery_attempt.status is 'HTTP status of the response; null if there was none.';
comment on column events.delivery_attempt.error is 'Error message; null if the attempt succeeded.';
comment on column events.delivery_attempt.response_headers is 'Headers of the response.';
comment on column events.delivery_attempt.response_body is
  'Beginning of the response, 4,096 characters at most.';
comment on table events.delivery_queue is
  'Delivery queues: the pending deliveries of one entity to one subscription, which are sent one after the '
  'other. A queue whose first delivery fails delays only itself. A queue exists while something is pending '
  'in it.';
comment on column events.delivery_queue.pending is 'Number of pending deliveries in the queue.';
comment on column events.delivery_queue.attempts is 'Number of failed attempts at its first delivery.';
comment on column events.delivery_queue.next_attempt_at is
  'Time of the next attempt; infinity while the subscription is disabled.';
comment on column events.delivery_queue.claimed_until is
  'End of the lease: until then no other process takes the queue. The process with the lease renews it '
  'every few seconds.';
comment on column events.delivery_queue.claimed_by is 'The claim that holds the lease.';
comment on column events.delivery_queue.due_at is
  'When the queue may be taken: after the waiting time and the lease.';
comment on index events.delivery_queue_claimed_by_idx is 'For a process that renews its claims.';
comment on table events.event is
  'The log: all events of the last 30 days, in the order in which they were committed.';
comment on column events.event.id is 'Id that begins with the sequence, so that ids sort as the log does.';
comment on column events.event.changed_fields is
  'Fields that the update changed; null if the event is no update.';
comment on column events.event.traceparent is
  'Trace of the request that caused the event, for its webhooks: traceparent and, after a space, '
  'tracestate. Null if the request was not traced.';
comment on table events.field is 'Fields in the data of events, by the type of their subject.';
comment on column events.field.name is 'Name of the field, as in the API.';
comment on column events.field.column_name is
  'The column, or several columns of a combined id, with commas between them.';
comment on column events.field.id_of is 'Type whose id the column holds; null if it holds no id.';
comment on table events.log_head is
  'The end of the log: one row. Only the transaction that has locked it may write to the log.';
comment on table events.occasion is
  'Changes of a subject that cause an event of a topic. events.derive_announcements turns them into '
  'triggers.';
comment on column events.occasion.columns is
  'Columns of which one must have changed; null for any column in the data.';
comment on column events.occasion.condition is
  'SQL condition on the new row n and, for an update, the old row o; null for none.';
comment on table events.outbox is
  'Committed changes on their way to the log. Each is written in the transaction of the change, and the '
  'sequencer moves it to the log. The primary key is the only index, because each further one would make '
  'every booking slower.';
comment on column events.outbox.entity_id is
  'Events with the same entity_id are kept in order. It is the id of the subject itself or, for stock, of '
  'the product; for keys that are no uuid, it comes from events.key_uuid.';
comment on column events.outbox.data is 'The subject as it was then, with the names and ids of the API.';
comment on column events.outbox.changed_fields is
  'Fields of the data that an update changed; null if the event is no update.';
comment on column events.outbox.cause is 'The credential and the request that caused it.';
comment on table events.subject is
  'Subjects of events: types of the API. Declared in db/fixtures/events/topics.sql.';
comment on column events.subject.view_name is
  'View of the type in the version unstable of the API. Its scope is needed to read the events.';
comment on column events.subject.entity_column is 'Column with the id by which events are kept in order.';
comment on table events.topic is 'Topics: kinds of events, each with the scope that is needed to receive it.';
comment on column events.topic.scope is 'Scope that reads the subject, as declared by its view.';
comment on column events.topic.fields is 'Fields in the data; null for all fields of the subject.';
comment on column events.topic.subscribable is
  'Whether webhooks can subscribe to it. Only the topic of tests cannot be subscribed to.';
comment on table events.webhook_secret is
  'Secrets that sign deliveries: the current one of each subscription and, for 24 hours, earlier ones. Only '
  'service_delivery reads them.';
comment on column events.webhook_secret.secret is
  'whsec_ and the key in base64, or its encrypted form (src/secrets).';
comment on column events.webhook_secret.expires_at is 'When it stops signing; null for the current secret.';
comment on constraint webhook_secret_has_its_form on events.webhook_secret is
  '@internal the service creates it';
comment on column events.webhook_subscription.credential_id is
  'Credential that created or last changed it, and whose scopes decide what is sent. Null if an '
  'administrator did; then every event is sent.';
comment on column events.webhook_subscription.topic is
  'Topic to subscribe to, as resource.event, for example order.created.';
comment on column events.webhook_subscription.api_version is 'API version that shapes the payloads.';
comment on column events.webhook_subscription.fields is
  'Sends only changes of at least one of these fields; null for all changes.';
comment on column events.webhook_subscription.payload_query is
  'GraphQL document that reads the payload; null for the default payload.';
comment on column events.webhook_subscription.health_reason is 'Explanation of the health.';
comment on column events.webhook_subscription.backlog_count is 'Number of events that wait to be delivered.';
comment on column events.webhook_subscription.last_sequence is
  'Sequence of the newest event for it; null if there was none yet.';
comment on column events.webhook_subscription.payload_failures is
  'How many times in a row the payload query took too many resources.';
comment on column events.webhook_subscription.paused_until is
  'End of the pause after the payload query took too many resources; null without a pause.';
comment on constraint webhook_subscription_url_is_web on events.webhook_subscription is
  E'@userError INVALID url\nThis is not a valid web address: it must begin with https:// or http://, and '
  'have no user name, fragment or spaces.';
comment on index events.webhook_subscription_credential_id_idx is
  'For counting the subscriptions of a credential.';

comment on function auth.acting_administrator() is
  'Returns the administrator to whose session the transaction belongs: the setting service.session has the '
  'SHA-256 of the session''s token, in hex. Null without a session that has not ended.';
comment on function auth.activate_credential(uuid) is
  'Activates a deactivated credential again, with the same client ID and secret. Does nothing to an active '
  'one, and cannot revive an expired one.';
comment on function auth.active_scopes(text) is
  'Returns the present scopes of access tokens of this client ID, how much longer it lasts (null if it '
  'never expires), and whether it may only send stored operations. No row if it does not exist, or its '
  'credential is expired or deactivated.';
comment on function auth.add_first_signing_key(uuid, text) is
  'Stores a key to sign access tokens, if none signs yet.';
comment on function auth.announce_credential_change() is
  'Trigger: tells every process of the service to forget cached credentials and the cached plan, as soon as '
  'the change is committed. Processes that do not listen notice it by auth.rights_mark.';
comment on function auth.authenticate_credential(text, bytea) is
  'Returns the active credential that has this client ID and SHA-256 of a client secret, or no row. The '
  'caller cannot find out what was wrong.';
comment on function auth.change_credential(uuid, text, text[]) is
  'Gives a credential another name or other scopes. Removed scopes are gone from its access tokens at once; '
  'added ones are in its next access tokens.';
comment on function auth.charge_points(text, double precision, double precision) is
  'Takes points from a bucket after the fact, whether or not it has them. Afterwards it is full again in '
  'maximum_ms milliseconds at most.';
comment on function auth.clear_full_buckets() is
  'Deletes up to 10,000 full buckets, because a missing one counts as full. Returns how many.';
comment on function auth.create_administrator(text, text) is
  'Creates an administrator, with the argon2id hash of a password. Returns the id.';
comment on function auth.create_credential(text, text[], text, bytea, uuid) is
  'Creates a credential with its first client ID and the SHA-256 of its client secret. Returns its id. '
  'Refuses scopes that do not exist.';
comment on view auth.credential_overview is
  'Credentials as administrators see them: everything but the secrets. The newest client ID comes first; '
  'earlier ones will expire.';
comment on function auth.current_plan() is 'Returns the plan that the merchant has, with its limits.';
comment on function auth.deactivate_administrator(text) is
  'Ends all sessions of an administrator, and refuses their log-ins from then on.';
comment on function auth.deactivate_credential(uuid) is
  'Deactivates a credential and all of its access tokens. Deactivating it again changes nothing.';
comment on function auth.delete_credential(uuid) is
  'Deletes a credential with its secrets. Its access tokens stop working at once.';
comment on function auth.documented_schema(text) is
  'Returns the JSON Schema of a topic''s messages, for the documentation. One topic per call, because each '
  'takes some ten milliseconds.';
comment on function auth.documented_topics() is
  'Returns all topics of events, for the documentation, which is public.';
comment on function auth.erase_retired_keys() is
  'Erases signing keys that have retired, but not their rows. Returns how many.';
comment on function auth.is_scope_list(text[]) is
  'Whether all elements have the form <resource>:read or <resource>:write, and each write scope is '
  'accompanied by its read scope.';
comment on function auth.is_session(bytea) is
  'Whether this is the SHA-256 of the token of a session that has not ended. By this, the API recognizes '
  'tokens of the administration.';
comment on function auth.keep_audit() is
  'Trigger: refuses changes and deletions, also by the owner, except for the deletions of auth.prune_audit.';
comment on function auth.known_scopes() is
  'Returns every scope that a credential can have: the scopes in the tags @requiresScopes and @scopesOfAll '
  'in the API schemas, and a read scope for each write scope. So a scope is declared in one place, beside '
  'the view that it protects or the mutation that needs it, and no write scope exists without a mutation.';
comment on view auth.live_session is
  'Sessions that have not ended: begun within 12 hours, used within one, and of an active administrator.';
comment on function auth.may_send(uuid, text) is
  'Whether a credential may run a GraphQL document. If it may only send stored operations, the document '
  'must be stored for it, in any version. Null stands for a document that cannot be stored.';
comment on function auth.note_event(text, text, uuid, jsonb) is
  'Adds an event to the audit, done by the administrator of the session. Without a session, it was done at '
  'the command line or, if there is an address (setting service.address), by a visitor who is not logged '
  'in.';
comment on function auth.note_webhook_event(text, uuid, jsonb) is
  'Adds an event about a webhook subscription to the audit, also linked to the credential that the '
  'subscription belongs to.';
comment on view auth.operation_overview is
  'Operations of the last 14 days with their totals: requests, time of their SQL statements, credentials.';
comment on function auth.prune_audit(integer) is
  'Deletes events of the audit that are older than auth.audit_lifetime(), at most as many as the batch. '
  'Returns how many: call it again until that is 0.';
comment on function auth.prune_credentials(integer) is
  'Deletes credentials that expired longer ago than auth.use_lifetime(), with the remaining counts of their '
  'use, at most as many as the batch. Credentials of webhook subscriptions stay. Returns how many: call it '
  'again until that is 0.';
comment on function auth.prune_operations(integer) is
  'Deletes uses of operations older than 14 days, and operations that nobody sends any more, at most as '
  'many of each as the batch. Returns how many: call it again until that is 0.';
comment on function auth.prune_uses(integer) is
  'Deletes records of use by credentials that are older than auth.use_lifetime(), at most as many rows of '
  'each kind as the batch. Returns how many: call it again until that is 0.';
comment on function auth.record_fields(jsonb) is
  'Records the last day on which credentials used fields: an array of objects with credential_id, version, '
  'field, day.';
comment on function auth.record_operations(jsonb) is
  'Adds to the statistics of operations that credentials sent: an array of objects with id, version, name, '
  'document, credential_id, day, requests, ms, slowest_ms, statement. Keeps up to 300 operations of a '
  'credential per day.';
comment on function auth.record_use(jsonb) is
  'Adds to the counts of use by credentials: an array of objects with credential_id, day, version, '
  'requests, last_used_at, and for uses of a deprecated field deprecated_field.';
comment on function auth.remove_operations(text, uuid, text[]) is
  'Removes the stored operations of a version, of a credential and with these SHA-256 in hex; null stands '
  'for any. Returns how many.';
comment on function auth.reset_administrator_password(text, text) is
  'Gives an administrator another password, ends all of their sessions, and activates them if they were '
  'deactivated.';
comment on function auth.restrict_operations(uuid, boolean) is
  'Restricts a credential to stored operations, or allows it all operations again.';
comment on function auth.rights_now() is
  'Returns a mark of rights and the state of migrations: both stay the same while nothing has changed about '
  'rights, and no migration has run. It reveals nothing else, so the role of clients'' operations may call '
  'it, on their connections.';
comment on function auth.rotate_signing_key(uuid, text, interval) is
  'Creates a new signing key. The previous one is accepted for the overlap, which must outlast the access '
  'tokens that it has signed. Returns when the overlap ends.';
comment on function auth.secrets_key_id(text) is
  'Returns the id of the key that a secret is encrypted with (src/secrets); null if it is not encrypted.';
comment on function auth.set_plan(text, jsonb) is
  'Gives the merchant a plan, with other limits if they are given. Takes effect at once on every process. '
  'Raises no_data_found for a plan that does not exist.';
comment on view auth.signing_key_overview is
  'Keys that sign access tokens as administrators see them: everything but the keys. key_id is the id of '
  'the key that they are encrypted with.';
comment on function auth.signing_keys() is
  'Returns the keys whose signatures of access tokens are accepted, which of them signs, and how long the '
  'others remain valid.';
comment on function auth.stored_document(text) is
  'Returns the document of a stored operation, by its SHA-256 in hex; null if there is none.';
comment on view auth.stored_operation_overview is
  'Stored operations without their documents. Operations without a credential are stored for all '
  'credentials.';
comment on function auth.stored_operations() is
  'Returns the version, the SHA-256 of the document and the credential of each stored operation; no '
  'credential means all credentials.';
comment on function auth.stored_secrets() is
  'Returns the number of secrets of each kind, and the keys that they are encrypted with, null for '
  'unencrypted ones. Returns no secret.';
comment on function auth.supported_locales() is
  'Returns the locales that a request may use: the locales in which names are stored.';
comment on function auth.take_points(text, double precision, double precision) is
  'Takes points from a bucket, by the generic cell rate algorithm: only the time at which the bucket is '
  'full again is stored. The taken points take refill_ms milliseconds to come back, and all points '
  'capacity_ms. Takes all or nothing; returns which, and in how many milliseconds the bucket is full.';
comment on function auth.use_lifetime() is
  'Returns how long records of use by credentials are kept: the setting service.keep_use_counts, or 400 '
  'days without it. At least the 90 days that the check of a change reads.';
comment on function auth.audit_lifetime() is
  'Returns how long events of the audit are kept: the setting service.keep_audit, but at least a year. Null '
  'without the setting: for ever.';
comment on table auth.administrator is
  'People who may use the administration in the browser. Rows are never deleted, because auth.audit_event '
  'refers to them.';
comment on column auth.administrator.name is
  'The user name, or an email address, regardless of upper and lower case.';
comment on column auth.administrator.deactivated_at is
  'When the administrator was deactivated; null while they may log in.';
comment on table auth.administrator_session is
  'Sessions in the browser. auth.live_session says when they end.';
comment on table auth.audit_event is
  'The audit: changes of credentials, administrators and settings, with their author and address. Rows are '
  'only added. Never contains a secret.';
comment on column auth.audit_event.actor is
  'The author: administrator, command line, or nobody for a visitor who is not logged in.';
comment on column auth.audit_event.credential_id is
  'The credential that it is about; no foreign key, because the credential may be deleted.';
comment on column auth.audit_event.subject is
  'The name, at that time, of the credential or administrator that it is about.';
comment on index auth.audit_event_credential_id_idx is 'For the administration''s page of a credential.';
comment on table auth.bucket is
  'Buckets of points for rate limits, with the time when each is full again. A bucket that is not here is '
  'full.';
comment on column auth.bucket.key is 'Purpose of the points, and their owner.';
comment on table auth.credential is
  'API credentials: each has a name and the scopes of its access tokens, and is created by an administrator '
  'for one client of the API. Its client ID and client secret are in auth.credential_secret.';
comment on column auth.credential.name is 'Name of the client in lists and in the log.';
comment on column auth.credential.scopes is
  'Scopes of its access tokens, for example {products:read,stocks:read,stocks:write}. A write scope '
  'includes its read scope.';
comment on column auth.credential.stored_operations_only is
  'Whether its access tokens may only send operations of auth.stored_operation.';
comment on column auth.credential.last_used_at is
  'When it last obtained an access token, or sent a request with one; to the minute.';
comment on column auth.credential.rotated_at is
  'When its present client ID and client secret replaced earlier ones; null while it has its first.';
comment on column auth.credential.deactivated_at is
  'When it and its access tokens were deactivated; null while it is active.';
comment on column auth.credential.expires_at is
  'When it and its access tokens expire; null if they never do.';
comment on table auth.credential_secret is
  'Client IDs with their client secrets, which authenticate a credential. A separate table, so that after a '
  'rotation the old ones can overlap with the new ones.';
comment on column auth.credential_secret.access_key is
  'The client ID, as sent to the token endpoint. Safe to log.';
comment on column auth.credential_secret.expires_at is
  'When they expire, after a rotation with an overlap; null for the newest.';
comment on table auth.credential_use is
  'Number of requests of each credential to each version, by day in UTC.';
comment on column auth.credential_use.deprecated_field is
  'Type.field, if the row counts requests that used this deprecated field; empty if it counts all requests.';
comment on table auth.field_use is
  'Days on which each credential last used each field of each version, in UTC: the clients that a change of '
  'the field would break.';
comment on table auth.log_in_attempt is
  'Recent failed log-ins, by name and address. Belongs to the package rate-limiter-flexible, which counts '
  'here by its own statements, so that all processes share the count.';
comment on table auth.operation is
  'Operations that credentials sent in the last 14 days. Operations that differ only in names, aliases and '
  'values are one row.';
comment on column auth.operation.id is
  '16 hexadecimal digits, as in the comments of its SQL statements and the application_name of its '
  'transactions.';
comment on column auth.operation.name is 'Name that a client gives it.';
comment on column auth.operation.statement is
  'Its slowest SQL statement, with parameters instead of values; null if that is very long.';
comment on table auth.operation_use is
  'Number of requests of credentials with each operation, by day in UTC.';
comment on column auth.operation_use.ms is 'Total time of their SQL statements, in milliseconds.';
comment on column auth.operation_use.slowest_ms is 'Time of the slowest statement, in milliseconds.';
comment on table auth.plan is 'The plans that a merchant can have. One is current.';
comment on column auth.plan.is_current is 'Whether the merchant has this plan.';
comment on column auth.plan.limits is
  'Limits that differ from the settings of the service while the plan is current, by their names in '
  'src/graphql/limits.ts, for example {"cost": 4000}.';
comment on table auth.rights_mark is
  'A value that differs after each change of rights: of credentials, the plan, signing keys, stored '
  'operations.';
comment on table auth.signing_key is
  'Keys that sign access tokens (HMAC-SHA256). One signs; earlier ones are accepted until the access tokens '
  'that they signed have expired.';
comment on column auth.signing_key.secret is
  '32 bytes in base64, or their encrypted form (src/secrets); null after the key has retired.';
comment on column auth.signing_key.retires_at is
  'When its signatures stop being accepted; null for the key that signs.';
comment on table auth.stored_operation is
  'Operations that were stored for clients. They may be sent by the SHA-256 of their document alone.';
comment on column auth.stored_operation.sha256 is 'SHA-256 of the document, in UTF-8.';
comment on column auth.stored_operation.credential_id is
  'The credential that may send it; null for every credential.';
comment on column auth.stored_operation.name is 'Its name in the document or the manifest.';

comment on schema bulk is 'Imports and exports of files with many rows, which background work processes.';
comment on function bulk.add_chunk(uuid, uuid, integer, bytea, bigint) is
  'Adds a chunk to the file that is being uploaded. Returns added; full if all bulk operations together '
  'would take too much space; gone if the upload was cancelled, or began again elsewhere.';
comment on function bulk.add_result(uuid, uuid, integer, integer, bytea, bigint, integer) is
  'Adds lines to the file of an export. Returns added; full if all bulk operations together would take too '
  'much space; gone if another process works on it, or it was cancelled.';
comment on function bulk.begin_result(uuid, uuid, text) is
  'Begins to write the file of an export. Deletes what a killed process has written, because that is from '
  'another moment. Returns whether this process still holds the operation.';
comment on function bulk.begin_upload(uuid, text[], text, text, text, uuid, text) is
  'Begins the upload of a file. With a key that was used before, it begins the same upload again if the '
  'file has not arrived, or else returns the existing operation. The result is_ours says that the file must '
  'be sent; is_same says that the key was used for the same kind of file. The result content_sha256 is the '
  'SHA-256 of the text of a file that has arrived, null if that was not stored.';
comment on function bulk.upload_pause() is
  'Returns the time without progress after which an upload counts as interrupted.';
comment on function bulk.cancel(uuid) is
  'Cancels a bulk operation of the caller. A chunk in progress is undone. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION.';
comment on function bulk.due_at() is
  'Returns when bulk.take will find something next: -infinity while an operation waits that could begin, '
  'otherwise when the next lease ends; null if there is none.';
comment on function bulk.end_upload(uuid, uuid, bytea) is
  'Ends an upload after the whole file has arrived: its rows wait to be imported. Returns the number of '
  'rows, or null if the upload was cancelled, or began again elsewhere.';
comment on function bulk.drop_upload(uuid, uuid) is 'Deletes an upload that was refused or cut off.';
comment on function bulk.finish(uuid, uuid, text, text) is
  'Ends a bulk operation: it is completed, or has failed with an error. Returns whether this process still '
  'held it.';
comment on function bulk.release(uuid, uuid) is
  'Releases a bulk operation, so that other processes can take it at once: this process is about to stop.';
comment on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text) is
  'Imports the rows of a chunk, with the present rights of the credential, records refusals, and marks the '
  'chunk as done. It does so in one transaction, so that no row is imported twice. Faults are rows that '
  'cannot be parsed. Returns done, or gone if another process works on it, or it was cancelled. Returns '
  'FORBIDDEN if the plan allows no mutations, and SCOPE_MISSING if the credential lacks the scope by now.';
comment on function bulk.open_errors(uuid, bytea, integer, integer) is
  'Returns why rows of a bulk operation were refused: up to 1,000 after a position, for clients that have '
  'the code. Fails with P0002 if the id or the code is wrong.';
comment on function bulk.open_result(uuid, bytea, integer) is
  'Returns the next part of the file of an export, for clients that have the code; without content after '
  'the last one. Fails with P0002 if the id or the code is wrong.';
comment on function bulk.prune() is
  'Deletes expired bulk operations, interrupted uploads, and the remains of failed and cancelled '
  'operations, in parts. Returns how much; 0 if nothing is left.';
comment on function bulk.read_chunk(uuid, uuid, integer) is
  'Returns a chunk of a file, for the process that works on it; null after the last one.';
comment on function bulk.renew(uuid, uuid, integer) is
  'Extends the lease of a bulk operation by some milliseconds. Returns its present scopes, or null if '
  'another process works on it, or it was cancelled.';
comment on function bulk.rights_to_files(uuid, bytea) is
  'Returns the bulk operation whose files the code opens, and its present scopes, as bulk.scopes_of does. '
  'No row if the id or the code is wrong, or the files have expired.';
comment on function bulk.scopes_of(uuid) is
  'Returns the present scopes of a bulk operation: the scopes of the access token that requested it which '
  'its credential still has. Null if the credential is deleted, expired or deactivated, if it may only send '
  'stored operations and this is none, or while the plan of the merchant has no API.';
comment on function bulk.upsert(name, name, text, jsonb) is
  'Runs the upsert of a version with many rows, and returns the outcome of each. If it is refused as a '
  'whole, halves are tried, so that only the faulty rows are refused. Rows about the same object as an '
  'earlier row are run after it, as in a call of their own.';
comment on table bulk.chunk is
  'A part of the file of a bulk operation, compressed: rows to be imported, or lines of a result.';
comment on table bulk.operation is
  'Bulk operations: imports of files of rows, and exports of lists to a file.';
comment on column bulk.operation.credential_id is
  'Credential that requested it. Only this credential sees it.';
comment on column bulk.operation.scopes is
  'Scopes of the access token that requested it. A scope counts while the credential still has it.';
comment on column bulk.operation.kind is 'Whether it imports or exports rows.';
comment on column bulk.operation.state is 'State of the operation.';
comment on column bulk.operation.resource is
  'The kind of rows: products, customers, suppliers, warehouses or orders; for an export, the field of the '
  'query.';
comment on column bulk.operation.query is 'For an export: the GraphQL document whose list is written.';
comment on column bulk.operation.variables is 'For an export: values of the variables.';
comment on column bulk.operation.locale is 'For an export: the language of its texts.';
comment on column bulk.operation.idempotency_key is
  'Idempotency key of the upload or the mutation: a repetition with the same key starts no second '
  'operation.';
comment on column bulk.operation.code is
  'Secret code in the address of its files. Everyone who has the code can open them.';
comment on column bulk.operation.claim is
  'Id of the present upload or the present work on it; differs each time.';
comment on column bulk.operation.claimed_until is
  'End of the lease, after which other processes may continue it.';
comment on column bulk.operation.attempts is
  'Number of times that work on it began since it last made progress.';
comment on column bulk.operation.next_chunk is
  'The chunk to process next. All chunks before it are committed.';
comment on column bulk.operation.stored_bytes is 'Size of its chunks in bytes.';
comment on column bulk.operation.row_count is
  'Rows of the file, known when it has arrived; for an export, rows of the list, known at its end.';
comment on column bulk.operation.created_count is 'Rows that created an object.';
comment on column bulk.operation.updated_count is 'Rows that changed an object.';
comment on column bulk.operation.done_count is
  'Rows that succeeded: created, updated or unchanged; for an export, written lines.';
comment on column bulk.operation.refused_count is 'Refused rows. The errors say why.';
comment on column bulk.operation.error_code is 'Code of the error that ended it; null unless it failed.';
comment on column bulk.operation.error_message is
  'Message of the error that ended it; null unless it failed.';
comment on column bulk.operation.created_at is 'When it was requested.';
comment on column bulk.operation.finished_at is 'When it ended: completed, failed or cancelled.';
comment on column bulk.operation.traceparent is
  'Trace of the request that started it; null if the request was not traced.';
comment on column bulk.operation.content_sha256 is
  'SHA-256 of the text of an uploaded file, in UTF-8: another file with the same key is refused. Null for '
  'exports, and for files that arrived before this column existed.';
comment on index bulk.operation_id_idx is
  'For operations that have not ended, in the order in which they begin.';
comment on index bulk.operation_idempotency_key_is_unique is
  '@internal begin_upload() returns the operation that has the key, if it is the same upload';
comment on table bulk.refusal is 'Reasons why rows of bulk operations were refused, by line of the file.';

comment on schema erp is
  'Tables of the shop and the rules about them. This is no interface: clients read the API schemas.';
comment on function erp.about_customer(uuid) is
  'Returns a customer, and the ids of everything about them. `npx erp customers` exports or anonymizes '
  'that.';
comment on function erp.address_faults(jsonb) is
  'Returns what is wrong with an address that is entered for a warehouse or a supplier. The tables check '
  'that it is an object.';
comment on function erp.require_address(jsonb) is
  'Refuses an address with unknown keys or values. User error INVALID.';
comment on function erp.faults_of_addresses(mutation.upsert_row[]) is
  'Returns what is wrong with the addresses in rows of an upsert.';
comment on function erp.address_keys() is 'Returns the keys of an address that clients are promised.';
comment on function erp.allotment(uuid) is
  'Returns how the lines of a goods receipt that name supplier orders are distributed over the ordered '
  'lines. Parts of a line go first to the order line that it names, then to other lines of the order with '
  'the product. Units without room in the order come last, without an order line. Returned units are '
  'distributed over the received ones.';
comment on function erp.allotment_by_name(uuid) is
  'Returns how many units of each line of a goods receipt fit into the line of a supplier order that it '
  'names, in the order of the lines. Units that arrive are limited by the open quantity, returned units by '
  'the received quantity. Cancelled orders take nothing.';
comment on function erp.allowed_actions(text, text) is
  'Returns the actions that clients can do in a state by a mutation, according to erp.state_transition, as '
  'a JSON array.';
comment on function erp.amounts(text, numeric[], numeric[], numeric) is
  'Returns the totals of a document from its lines: their amounts by its tax status, and their tax rates in '
  'percent. A discount on the whole document is subtracted from both totals. Null if no line has a price.';
comment on function erp.approve_goods_receipt(uuid) is
  'Approves a goods receipt: books its lines to the place of the receipt, from the return order or from '
  'unknown, and negative lines from where the units are.';
comment on function erp.are_storefront_variants(jsonb) is
  'Whether the entries of a list are objects that name a product of the storefront and, optionally, its '
  'variant.';
comment on function erp.are_translations(jsonb) is
  'Whether a JSON value is an object with an object of texts for each locale, such as {"de": {"name": '
  '"Zelt"}}.';
comment on function erp.assign(uuid, erp.assignment[], boolean) is
  'Creates a fulfillment order for each location that is to ship units of an order, or ships them at once, '
  'so that nothing is promised. Returns their ids. The caller holds the locks of the order, and the locks '
  'of ledger.lock, because the number range is locked last.';
comment on function erp.awaits_goods(text) is
  'Whether the open units of a supplier order in this state will still arrive.';
comment on function erp.billable_parts(uuid, boolean, uuid[]) is
  'Returns the units of an order''s lines that no invoice charges. With only_shipped, these are the shipped '
  'units of products, of some fulfillments if they are given, and all units of other lines, such as '
  'shipping costs, if erp.charges_services allows it.';
comment on function erp.cancel_invoices_of(uuid) is
  'Cancels the invoices of a cancelled shipment, each by a cancellation invoice. A new invoice charges what '
  'they charged of other shipments. Of an invoice that was credited, only the units of the shipment can be '
  'invoiced again. Returns the created documents.';
comment on function erp.change_fulfillment_order(uuid, text, text) is
  'Does an action of the machine fulfillment_order of erp.state_transition: start, hold, release_hold or '
  'cancel. Returns the id. User errors NOT_FOUND, EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION, '
  'OUT_OF_RANGE.';
comment on function erp.charges_services(uuid) is
  'Whether lines of an order other than products may be charged, such as shipping costs. They may if some '
  'of its goods were shipped, or if it has none and was not cancelled.';
comment on function erp.check_goods_receipt(erp.goods_receipt) is
  'Refuses a goods receipt that refers to something that does not exist. User error NOT_FOUND.';
comment on function erp.complete_goods_receipt(uuid, erp.placement[]) is
  'Completes a goods receipt. Books its lines from the place of the receipt to where they are put away, and '
  'units to be thrown away to stock_correction, and records what arrived of supplier orders. A line without '
  'placements goes to its own bin, the usual bin, or the warehouse. All units are booked, including units '
  'that no order has open: these become lines of their own.';
comment on function erp.complete_shipment(uuid, text[], text[], text, uuid) is
  'Ships everything that is open of an order. Assigned units are shipped from their warehouses, all others '
  'from the warehouses of erp.plan_uncovered, for which a warehouse may be given. External fulfillment '
  'orders stay unchanged. An order with nothing to ship, such as services, is only completed. Documents are '
  'only checked here. User errors NOT_FOUND, INVALID, NOT_UNIQUE, ON_HOLD, EXTERNALLY_MANAGED, '
  'INVALID_STATE_TRANSITION, INSUFFICIENT_STOCK, OUT_OF_RANGE, TOO_MANY_LINES.';
comment on function erp.converted_price(numeric, text, numeric, numeric, text, numeric, numeric) is
  'Converts the unit price of one document for another one, whose currency may differ, or which may state '
  'prices with tax instead of without. The result has six decimals, or is unchanged if nothing differs. '
  'Null if a rate is unknown.';
comment on function erp.copy_product_prices(uuid[]) is
  'Copies the prices of default suppliers that are paid in the default currency to their products. Other '
  'suppliers keep theirs.';
comment on function erp.copy_supplier_prices(uuid[]) is
  'Copies the purchase prices of products to their default suppliers: unchanged if the supplier is paid in '
  'the default currency, otherwise converted by the present rate.';
comment on function erp.country_alone(jsonb) is
  'Returns an address with only its country, by which taxes and statistics go, for a customer who is '
  'anonymized.';
comment on function erp.create_bin_location(uuid, text, integer) is
  'Creates a bin in a warehouse. Returns its id.';
comment on function erp.create_delivery_note(uuid, uuid) is
  'Creates a delivery note for a shipment of an order, or for the whole order without one.';
comment on function erp.create_documents(uuid, text[], uuid) is
  'Creates documents of the given types for a shipment of an order, by default the newest one. The delivery '
  'note lists the content of the shipment; the invoice charges everything that was shipped and that no '
  'other invoice charges. erp.require_documents names the types. Returns their ids. User error INVALID.';
comment on function
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]) is
  'Ships some of the open units of a fulfillment order, or all if lines is null. They are taken from the '
  'given places or, by default, from the next ones on the pick route. Documents are only checked here. User '
  'errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, NOT_FOUND, INVALID, EXTERNALLY_MANAGED, '
  'ON_HOLD, INVALID_STATE_TRANSITION, OVER_FULFILLMENT, BATCH_MISMATCH, BATCH_REQUIRED, INSUFFICIENT_STOCK.';
comment on function erp.create_goods_receipt(jsonb, erp.goods_receipt_line[], uuid[]) is
  'Creates a goods receipt from the columns in the object (is_draft: as a draft), its lines, and the '
  'supplier orders that it delivers. Omitted values of type, supplier, currency and tax status follow from '
  'the orders that it and its lines name. Returns its id.';
comment on function erp.create_product_supplier_configuration(jsonb, erp.price[]) is
  'Records that a supplier sells a product, with the terms in the object and these prices. Returns its id.';
comment on function erp.create_reversal(uuid, text, uuid, text[], text[]) is
  'Creates a credit note or storno (cancellation invoice) of an invoice of an order, which may be omitted '
  'if only one is valid. A cancellation invoice cancels it: what it charged can be invoiced again. A credit '
  'note returns the money, and what it credits is not charged again. An invoice can be taken back once. '
  'User errors INVALID, REQUIRED.';
comment on function erp.create_supplier_order(jsonb, erp.supplier_order_line[]) is
  'Creates an open supplier order from the columns in the object, with its lines. By default, the currency '
  'is the supplier''s, and the warehouse is the default for receiving. Returns its id.';
comment on function erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb) is
  'Creates a warehouse with the location that orders are fulfilled from. The first one is the default for '
  'everything. Returns its id.';
comment on function erp.currency_factor_at(uuid, timestamptz) is
  'Returns the units of a currency per unit of the default currency at a moment, and the source of the '
  'figure. The source is an imported exchange rate, otherwise the factor in the shop''s own table of '
  'currencies.';
comment on function erp.delete_bin_location(uuid) is 'Deletes an empty bin. Returns its id.';
comment on function erp.delete_goods_receipt(uuid) is
  'Deletes a goods receipt whose stock is still at its place. Approved goods are booked back first; '
  'movements are kept, without the receipt. Returns its id.';
comment on function erp.delete_product_supplier_configuration(uuid) is
  'Records that a supplier no longer sells a product. The product keeps its purchase prices. Returns the '
  'id.';
comment on function erp.delete_supplier_order(uuid) is
  'Deletes an open or cancelled supplier order that has no goods receipt. Returns its id.';
comment on function erp.delete_warehouse(uuid) is
  'Deletes a warehouse that is empty, has nothing to receive or to fulfill, and is not a default. Returns '
  'its id.';
comment on function erp.delivered_lines(uuid, uuid) is
  'Returns the lines of a delivery note: the units of an order in a shipment, the units that were shipped '
  'before, and the units that are still to come. Without a shipment, the whole order.';
comment on function erp.deliveries(uuid, erp.receipt_part[]) is
  'Returns the effect of a goods receipt on the supplier orders that it delivers: an entry for each of '
  'their lines. The states follow from the received quantities in both directions: confirmed, '
  'partially_delivered or delivered. Completed orders stay completed.';
comment on type erp.delivery is
  'The effect of a completed goods receipt on a line of a supplier order: its received quantity, whether '
  'units of it arrive, and the new state of its order. Also whether everything of the order has arrived, '
  'and the change of the awaited units of the product.';
comment on function erp.delivery_date(uuid[], text, date) is
  'Returns the first and the last day on which shipments went out. Units delivered without a shipment count '
  'on the day of the document; null if nothing was delivered yet.';
comment on function erp.document_amounts(uuid, text, erp.document_part[]) is
  'Returns the amounts that units of an order''s lines are charged, or all units without parts. If the tax '
  'status is net, prices are without tax. Discounts on the whole order are distributed over the units. '
  'Documents that contain each unit once add up exactly to the order.';
comment on function
  erp.document_config(uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]) is
  'Returns everything that a document of an order shows, as it is now. A document stores it in its config, '
  'from which it is rendered (src/pdf/config.ts has the format). Credit notes and cancellation invoices '
  'also need the number and the config of the invoice that they take back. Invoices need the units that '
  'they charge, if not all, and the shipments that brought them; delivery notes need their shipment.';
comment on function erp.document_locale(uuid) is
  'Returns the language for documents to the customer of an order: the language of the billing country, '
  'otherwise of the sales channel, if names are stored in it; otherwise en-GB.';
comment on function erp.exchange_rate_on(uuid, timestamptz) is
  'Returns the imported exchange rate of a currency at a moment: the newest that was published on that day, '
  'in UTC, or up to 7 days before. On weekends and holidays, none is published. No row if there is none, as '
  'for the default currency.';
comment on function erp.export_customer(uuid) is
  'Returns the rows about a customer, each with what belongs to it, except documents and files of bulk '
  'operations.';
comment on function erp.fill_default_currency_prices(uuid, integer) is
  'Fills in the price in the default currency on old lines of goods receipts, by id, after the given one, '
  'at most as many as the batch. Lines of receipts without a currency factor stay unchanged. Returns how '
  'many it filled, and the last of them, after which to continue.';
comment on function erp.goods_receipt_process(text) is
  'Returns the process type of the movements of a goods receipt, by its type.';
comment on function erp.hand_over_defaults(uuid, boolean, boolean) is
  'Removes the marks of the defaults from other warehouses, if this one takes them: exactly one warehouse '
  'has each.';
comment on function erp.has_open_lines(uuid) is
  'Whether a fulfillment order has units left to ship. Lines whose order line was deleted are not wanted '
  'any more.';
comment on function erp.has_variants(uuid) is
  'Whether a product only stands for its variants: some product has it as parent. Units of it can no longer '
  'be added to stock.';
comment on function erp.id_between(uuid, uuid, integer) is
  'Returns a new id between two ids, of which one may be null. It leaves room for as many further ids as '
  'are wanted, and keeps the moment of its neighbour. Null if there is no room.';
comment on function erp.import_exchange_rates(date, jsonb, text) is
  'Stores the exchange rates of a day, given as units per euro, as units per unit of the default currency, '
  'for each currency that the system knows. Importing a day again corrects it. Returns the number of '
  'currencies with a rate.';
comment on function erp.is_all_shipped(uuid) is
  'Whether nothing is left to ship of an order, which is also true without goods.';
comment on function erp.is_blank(text) is
  'Whether a text is empty, or has only white space: that includes all of Unicode''s, and characters '
  'without a width.';
comment on function erp.is_called_off(uuid, uuid) is
  'Whether a fulfillment order was cancelled by which a location was to ship units of an order line. The '
  'location then ships them only on request.';
comment on function erp.is_iban(text) is
  'Whether a text is an IBAN without spaces and with correct check digits.';
comment on function erp.is_locale(text) is
  'Whether a text has the form of a locale: a language, optionally with script and region, such as de or '
  'de-AT.';
comment on function erp.is_localized_text(jsonb) is
  'Whether a JSON value is an object with a text for each locale, including the default locale, en-GB.';
comment on function erp.is_string_array(jsonb) is
  'Whether a JSON value is an array that contains only strings.';
comment on function erp.keep_default_currency_price() is
  'Trigger: sets the unit price and the total of a line of a goods receipt in the default currency, by the '
  'factor of the receipt.';
comment on function erp.line_ids(uuid[]) is
  'Returns the ids of lines in this order, of which some exist; null stands for a new one. Lists are '
  'ordered by id, so a new line gets an id between the ids of its neighbours. Existing lines keep theirs.';
comment on function erp.localized(jsonb) is
  'Returns the text of an erp.localized_text in the locale of the request (setting service.locale), or in '
  'en-GB, which every text has.';
comment on function erp.location_of_warehouse(uuid, text[]) is
  'Returns the active location of a warehouse, from which orders are shipped, and protects it from deletion '
  'until the end of the transaction. User errors NOT_FOUND, INVALID.';
comment on function erp.lock_goods_receipt(uuid) is
  'Locks a goods receipt until the end of the transaction, and returns it. User error NOT_FOUND.';
comment on function erp.lock_order_to_ship(uuid) is
  'Takes the locks of an order and its fulfillment orders, as ledger.lock_orders does. Requires a state in '
  'which the order can be shipped. Returns the state, whether a fulfillment order is on hold, and the '
  'locations to ship from. User errors NOT_FOUND, INVALID_STATE_TRANSITION.';
comment on function erp.lock_orders_named(erp.goods_receipt_line[], uuid[]) is
  'Locks the supplier orders of a goods receipt against changes until the end of the transaction, and '
  'returns them. The ones that it names itself come first, then the ones of its lines.';
comment on function erp.lock_product_supplier_configuration(uuid) is
  'Locks a product, and how a supplier sells it, until the end of the transaction, and returns the latter. '
  'User error NOT_FOUND.';
comment on function erp.lock_supplier_order(uuid) is
  'Locks a supplier order until the end of the transaction, and returns it. User error NOT_FOUND.';
comment on function erp.lock_to_ship(ledger.pick[], erp.assignment[], uuid[]) is
  'Takes the locks of ledger.lock_shipment for open units of fulfillment orders, for units that are to be '
  'assigned, and for given bins: everything that shipping changes.';
comment on function erp.make_default_supplier(uuid) is
  'Makes a supplier the default of its product, instead of the present one.';
comment on function erp.match_order_lines(mutation.upsert_row[]) is
  'Returns the lines in rows of an upsert of orders as rows of an upsert themselves, numbered across all '
  'orders. A line is identified by its id, its storefrontId or its identifier, within its order. A new line '
  'without a position comes after the existing ones.';
comment on function erp.mentions_of_customer(uuid) is
  'Returns the places where people have written what identifies a customer, in texts about its orders that '
  'are not anonymized.';
comment on function erp.missing_in_document(jsonb) is
  'Returns what an invoice or similar document lacks that the law demands. That may be settings of the '
  'merchant (table erp.merchant), the name in the billing address, or the reason why there is no tax. Bank '
  'details are optional.';
comment on function erp.move_supplier_order(uuid, text, jsonb) is
  'Does an action of the machine supplier_order, and records the supplier''s details with it: its own '
  'number, the date of delivery. Returns the id. User errors INVALID_STATE_TRANSITION; REQUIRED and '
  'SUPPLIER_INACTIVE when an order is placed.';
comment on function erp.names_person(text, text[]) is
  'Whether a text equals one of some personal values, which are in lower case, or contains one of at least '
  'six characters.';
comment on function erp.newest_shipment(uuid) is
  'Returns the newest fulfillment of an order that was not cancelled; null if nothing was shipped.';
comment on function erp.next_number(text) is
  'Returns the next number of a range. Without a sequence it has no gaps: other transactions wait until the '
  'number is committed or rolled back.';
comment on function erp.open_document(uuid, bytea) is
  'Returns the document with this id and the SHA-256 of this deep link code, or no row. Takes a hash, so '
  'that no code gets into the log of Postgres, and any input can be checked.';
comment on function erp.open_invoices(uuid) is
  'Returns the numbers of the invoices of an order that neither a cancellation invoice nor a credit note '
  'has taken back.';
comment on function erp.open_picks(uuid) is
  'Returns the open units of an order''s fulfillment orders that the merchant''s warehouses ship, as picks '
  'of ledger.ship.';
comment on function erp.open_transactions() is
  'Returns the transactions that were open when the statement began to read, in the format of cursors. It '
  'is empty if there are none. Otherwise it begins with ~ and the number of the oldest. All further numbers '
  'are relative to it: a dot and the number of each other transaction; then, after a hyphen, the first and '
  'the count of the latest ones. Some may be subtransactions. All databases count.';
comment on function erp.order_pieces(uuid, text) is
  'Returns the amounts of an order''s lines with and without tax, by rates. A line without a rate, such as '
  'a promotion, is distributed over the lines with one, in proportion to their amounts. Each piece is '
  'charged with the units of a line. It is the piece''s own line, unless that has no rate and is no '
  'product; then it is the line that the piece is distributed to. All pieces add up exactly to the order.';
comment on function erp.orders_named(erp.goods_receipt_line[], uuid[]) is
  'Returns the supplier orders that a goods receipt names, itself and by its lines, with the path to each '
  'in the input.';
comment on function erp.other_location(uuid, ledger.change[]) is
  'Returns a location that can ship units of lines whose shipping was cancelled elsewhere. Its warehouse '
  'sells its stock, and has all of the units in addition to what it ships already. Locations that ship '
  'something of the order already come first, then the code of the warehouse decides. Null if there is '
  'none.';
comment on function erp.personal_values(uuid) is
  'Returns the values that identify a customer, in lower case, to find them elsewhere: names, numbers, and '
  'their addresses except for the country.';
comment on function erp.picks_of(erp.fulfillment_order, erp.shipping_line[], erp.shipping_place[]) is
  'Returns lines of a fulfillment order, or all open units if lines is null, as picks of ledger.ship that '
  'have no warehouse yet. User errors NOT_FOUND, OVER_FULFILLMENT, INVALID_STATE_TRANSITION.';
comment on function erp.postal_address(jsonb) is
  'Returns an address with exactly the keys that clients are promised, each a text or null. Anything else '
  'that a shop has sent stays with its order.';
comment on function erp.price_on_receipt(erp.goods_receipt, uuid, numeric) is
  'Returns the price of a unit of a supplier order''s line in the currency and by the tax status of a goods '
  'receipt, whose line may have another tax rate. Currencies are converted by the rate of the receipt and '
  'the present rate of the order''s currency.';
comment on function erp.put_away_drafts(erp.goods_receipt, erp.placement[]) is
  'Returns the movements that complete a goods receipt. Units go from its place to where its lines are put '
  'away, or to stock_correction if they are to be thrown away. Units of negative lines go where their goods '
  'are returned to.';
comment on function erp.put_away_place(erp.goods_receipt, erp.goods_receipt_line_item) is
  'Returns the default place where a line is put away: its own bin, otherwise the usual bin of the product '
  'in the warehouse, otherwise the warehouse. Units of lines with a negative quantity are taken from there.';
comment on type erp.receipt_part is
  'A part of a line of a goods receipt, for one line of a supplier order, or for none (erp.allotment). Its '
  'id is the id of the line that it becomes: the first part keeps its line. The column named_order_id is '
  'the order that the line named.';
comment on function erp.receipt_type(erp.goods_receipt, erp.goods_receipt_line[], uuid[]) is
  'Returns the default type of a goods receipt, by the supplier orders or return orders that it names.';
comment on function erp.release_credited_units(uuid, uuid) is
  'Removes the units of a cancelled shipment from an invoice that a credit note has taken back, so that '
  'they can be invoiced when they are shipped again. The rest of the invoice stays credited.';
comment on function erp.require_countable(numeric, bigint) is
  'Refuses aggregates of more than 100,000 rows (SQLSTATE UE007) or more than 1,000 groups (UE008): their '
  'time grows with the rows, even if an index finds these quickly.';
comment on function erp.require_default_warehouse() is
  'Constraint trigger: once there are warehouses, one must be the default and one the default for '
  'receiving. A unique index ensures that there are no two.';
comment on function erp.require_one_supplier() is
  'Trigger: refuses, for every writer, a goods receipt that delivers orders of another supplier than its '
  'own, or of several. Orders and receipts whose supplier has been deleted contradict nothing. User error '
  'SUPPLIER_MISMATCH.';
comment on function erp.require_receipts_of_supplier(uuid, uuid) is
  'Refuses another supplier for an order that goods receipts of the present supplier name. User error '
  'SUPPLIER_MISMATCH.';
comment on function erp.require_shippable(erp.fulfillment_order) is
  'Refuses fulfillment orders that cannot be shipped because of their state, or the state of their order. '
  'User errors ON_HOLD, INVALID_STATE_TRANSITION, INVALID.';
comment on function erp.require_tracking_codes(text[]) is
  'Refuses too many tracking codes, and codes of a wrong length. User errors TOO_MANY_LINES, OUT_OF_RANGE.';
comment on function erp.require_uninvoiced(uuid[]) is
  'Refuses fulfillments that a valid invoice charges. User error INVALID.';
comment on function erp.resolve_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Fills in what lines of a goods receipt name indirectly: batches by number, which are created if they are '
  'new, and lines of supplier orders by the order. The lines must have been checked before.';
comment on function erp.reversal_of(uuid) is
  'Returns the number of the document that takes an invoice back, a credit note or cancellation invoice; '
  'null if none does.';
comment on function erp.reversed_amounts(jsonb) is
  'Returns the lines and totals of a document with all amounts negated, at its exchange rate.';
comment on function erp.rounded(numeric) is
  'Rounds an amount to cents: half a cent is rounded away from zero.';
comment on function erp.rounded_price(numeric) is 'Rounds a calculated price of one unit to six decimals.';
comment on function erp.net_amount(numeric, numeric) is
  'Returns an amount without its tax, in cents; the rate is in percent. Null without a rate.';
comment on function erp.share_of(numeric, integer, integer) is
  'Returns the amount of the first units of a quantity, in cents. The difference between two shares is the '
  'amount of the units between them, so that the amounts of all units add up.';
comment on function erp.in_default_currency(numeric, numeric) is
  'Converts a price to the default currency: divides it by the units of its currency per unit of the '
  'default currency. The result has six decimals.';
comment on function erp.amount_in_default_currency(numeric, numeric) is
  'Returns an amount in the default currency, in cents. The amount is a price times a quantity, so that no '
  'rounded price is multiplied.';
comment on function erp.price_on_document(numeric, integer, numeric) is
  'Returns the price of one unit as a document shows it. It has at least four decimals, and as many as are '
  'needed for the price times the quantity to give the amount in cents. If no number of decimals does, as '
  'with a line that has a discount of its own, it is the amount divided by the quantity.';
comment on function erp.seller(text) is
  'Returns the merchant''s details for documents in a language; null while erp.merchant has no row.';
comment on function erp.set_default_supplier(uuid) is
  'Makes a supplier the default of its product. Returns the id of the assignment.';
comment on function erp.set_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Sets the lines of a goods receipt: lines with an id are updated, others are inserted, and missing ones '
  'deleted. They are listed in this order, except that existing lines keep their order among themselves. '
  'Omitted prices and tax rates come from the supplier order, converted if its currency differs, and from '
  'the product. Warns about units that the orders do not have open.';
comment on function erp.faults_of_images(mutation.upsert_row[]) is
  'Returns what is wrong with the images in rows of an upsert.';
comment on function erp.set_images(mutation.upsert_row[]) is
  'Sets the images of products to the lists in rows of an upsert, in this order. Returns the products with '
  'a changed image.';
comment on function erp.set_lines_of_goods_receipt(uuid, erp.goods_receipt_line[]) is
  'Sets the lines of a goods receipt that is not approved yet. A receipt without a supplier takes the '
  'supplier of the supplier orders that they name. Returns its id.';
comment on function erp.set_lines_of_supplier_order(uuid, erp.supplier_order_line[]) is
  'Sets the lines of an open supplier order. Returns its id.';
comment on function erp.faults_of_prices(mutation.upsert_row[], text) is
  'Returns what is wrong with the prices in a list of rows of an upsert.';
comment on function erp.set_prices(regclass, mutation.upsert_row[], text) is
  'Sets the prices of products to the lists in rows of an upsert, in a table of prices. Returns the '
  'products with a changed price.';
comment on function erp.set_product_warehouse_configuration(uuid, uuid, jsonb) is
  'Changes how a product is kept in a warehouse: the usual bin, the reorder point and the target, if the '
  'object contains them. Inserts the row if it is missing. Returns its id.';
comment on function erp.set_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[]) is
  'Sets the lines of a supplier order: lines with an id are updated, others are inserted, and missing ones '
  'deleted. Lists show them in this order, except that existing lines keep their order among themselves; '
  'their positions follow the new order. Omitted prices and tax rates come from the supplier''s terms and '
  'the product. Totals are calculated again; a discount on the whole order stays.';
comment on function erp.set_supplier_prices(uuid, erp.price[]) is
  'Sets the prices of a product at a supplier, one per currency.';
comment on function erp.faults_of_tags(mutation.upsert_row[]) is
  'Returns what is wrong with the names of tags in rows of an upsert.';
comment on function erp.set_tags(regclass, name, mutation.upsert_row[]) is
  'Sets the tags of the objects in rows of an upsert, in a table of links, and creates missing tags. '
  'Returns the ids of objects with a changed tag. Tags must be written last in an upsert, because other '
  'calls may wait for a new one.';
comment on function erp.settle_order(uuid, text[]) is
  'Updates the states of an order after something of it was shipped, and adds tracking codes: it is in '
  'progress, and completed when nothing is left to ship. User error INVALID_STATE_TRANSITION.';
comment on function erp.settle_receipt_lines(uuid, erp.receipt_part[]) is
  'Splits the lines of a goods receipt so that each delivers one line of a supplier order, and no more than '
  'was open of it. The rest becomes a line without an order, with the same product, batch, price and bin. '
  'Nothing is to be thrown away any more; totals stay the same. Warnings SURPLUS, ORDER_CANCELLED.';
comment on function erp.ship(uuid, ledger.pick[], uuid[], text[], text) is
  'Ships units of fulfillment orders of one order, some of which may have been assigned for this shipment. '
  'Books them out, records the fulfillment, closes what is fulfilled, and writes each row once. The caller '
  'holds the locks of the order and of ledger.lock_shipment. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, INVALID_STATE_TRANSITION.';
comment on function erp.standing_invoices(uuid) is
  'Returns the numbers of the valid invoices of an order, which no document has cancelled, as a JSON array.';
comment on function erp.start_goods_receipt(uuid) is
  'Records that the goods are being put away. Returns the id.';
comment on function erp.state_after_delivery(text, text) is
  'Returns the state of a supplier order after a delivery that makes it confirmed, partially_delivered or '
  'delivered, according to erp.state_transition.';
comment on function erp.subjects_about(uuid) is 'Returns the ids whose events are about a customer.';
comment on function erp.supplier_snapshot(uuid) is
  'Returns a supplier as it is now, for SupplierOrder.supplierSnapshot.';
comment on function erp.tax_exemption(text, text, text) is
  'Returns the reason why an order has no tax. The reasons are small_business, export (to a country outside '
  'of the European Union) or intra_community (to another of its countries, to a business with a VAT number '
  'of another country). Null if it has tax, or no reason is known. The destination is an ISO 3166 code.';
comment on function erp.tax_in_default_currency(uuid, jsonb, date) is
  'Returns the tax of a document in a foreign currency, by rates and in total, in the default currency. '
  'That is the currency of the merchant''s country, in which invoices have to state it (Article 230 of '
  'Directive 2006/112/EC). Includes the exchange rate of the day and its date of publication. Null in the '
  'default currency, and without tax.';
comment on function erp.those_with_variants(uuid[]) is
  'Returns the products that only stand for their variants, like erp.has_variants for each, but with one '
  'look at the index.';
comment on function erp.uncovered_lines(uuid) is
  'Returns the units of an order''s lines that are neither shipped nor to be shipped by an open fulfillment '
  'order: by line (owner) and product (item). They include open units of cancelled fulfillment orders.';
comment on function erp.unsettle_order(uuid) is
  'Updates the states of an order after a fulfillment of it was cancelled: open if nothing is shipped any '
  'more, otherwise in progress. A cancelled order stays cancelled. User error INVALID_STATE_TRANSITION.';
comment on function erp.update_bin_location(uuid, jsonb) is
  'Changes code and position of a bin, if the object contains them. Returns its id.';
comment on function erp.update_goods_receipt(uuid, jsonb) is
  'Changes the columns of a goods receipt in the object, and whether it is a draft. After approval, only '
  'the comment and the exchange rate can change. A given factor counts as set manually; null takes the '
  'present factor. Returns its id.';
comment on function erp.update_product_supplier_configuration(uuid, jsonb, erp.price[]) is
  'Changes the terms in the object, and the prices if it contains purchase_prices. Returns the id.';
comment on function erp.update_supplier_order(uuid, jsonb) is
  'Changes the columns of a supplier order in the object. After it was sent, only its dates, the '
  'supplier''s number and the comment can change. Returns its id.';
comment on function erp.update_warehouse(uuid, jsonb) is
  'Changes the columns of a warehouse in the object, and its location''s name along with its own. Returns '
  'its id.';
comment on function erp.with_terms_of_channel(mutation.upsert_row[]) is
  'Returns the rows of an upsert of customers. New ones get the next number of their range, if they have '
  'none, and the group of their sales channel, if they have no group.';
comment on function erp.upsert_customers(jsonb, boolean) is
  'Creates and updates customers, with their tags: the objects in the list, whose fields are named like '
  'columns. Returns the outcome of each.';
comment on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns the rows of an upsert of orders, new ones with the totals of their lines. So these need not be '
  'written, and reported, as a later change of the order.';
comment on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Writes the lines of an upsert of orders, and deletes omitted ones. Returns the orders with a changed '
  'line.';
comment on function erp.upsert_orders(jsonb, boolean) is
  'Creates and updates orders, with their lines and tags: the objects in the list, whose fields are named '
  'like columns. Returns the outcome of each.';
comment on function erp.upsert_suppliers(jsonb, boolean) is
  'Creates and updates suppliers: the objects in the list, whose fields are named like columns. Returns the '
  'outcome of each.';
comment on function erp.vat_id_for(jsonb, text) is
  'Returns the VAT number of a customer for a country, otherwise the first one.';
comment on function erp.warehouse_snapshot(uuid) is
  'Returns a warehouse as it is now, for SupplierOrder.warehouseSnapshot.';
comment on function erp.warn_of_lines(erp.goods_receipt, uuid[]) is
  'Warns about lines of a goods receipt that bring or take back more than their supplier orders account '
  'for. The lines are given in the order of the input. Warnings SURPLUS, ORDER_CANCELLED.';
comment on function erp.with_currency_factor(erp.goods_receipt, numeric) is
  'Returns the receipt with an exchange rate: the given one, as set manually, or the present one with its '
  'origin.';
comment on function erp.with_orders(erp.goods_receipt, uuid[]) is
  'Returns the receipt with omitted values filled in from its supplier orders: the supplier, and the '
  'currency and the tax status of the first.';
comment on function erp.without_person(jsonb, text[]) is
  'Returns the JSON with the texts replaced that equal or contain a personal value.';
comment on trigger warehouse_has_its_defaults on erp.warehouse is
  E'@userError INVALID\nOne warehouse must be the default, and one the default for receiving. Make another '
  'warehouse the default first.';
