drop table if exists ledger.named_reservation cascade;
create table ledger.named_reservation (
  reservation_id uuid primary key references erp.stock_reservation on delete cascade,
  product_id uuid not null,
  warehouse_id uuid not null
);
create index named_reservation_product_id_warehouse_id_idx
  on ledger.named_reservation (product_id, warehouse_id);
comment on index ledger.named_reservation_product_id_warehouse_id_idx is 'For ledger.pick_units.';
alter table ledger.named_reservation enable row level security;
comment on table ledger.named_reservation is
  'Reservations that name a bin or a batch, until they owe no more units: the few that shipments look at. '
  'The next such reservation of the product deletes those that have ended.';
comment on column ledger.named_reservation.reservation_id is 'The reservation.';
comment on column ledger.named_reservation.product_id is 'Its product.';
comment on column ledger.named_reservation.warehouse_id is 'Its warehouse.';
select api_meta.allow('service_ledger', 'ledger.named_reservation', 'select', 'insert', 'delete');
--!include ledger/may_owe_units.sql
insert into ledger.named_reservation (reservation_id, product_id, warehouse_id)
select r.id, r.product_id, r.warehouse_id from erp.stock_reservation r where ledger.may_owe_units(r);
--!include ledger/named_units.sql
--!include ledger/named_promises.sql
--!include ledger/promised_places.sql
--!include ledger/keep_reservation_figures.sql
--!include ledger/promised_picks.sql
--!include ledger/pick_units.sql
--!include ledger/free_units.sql
--!include ledger/unmet_units.sql
--!include ledger/refuse_reservations.sql
--!include ledger/proof.sql
