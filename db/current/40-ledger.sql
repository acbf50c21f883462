-- Ranges whose numbers may skip come from a sequence, so that shipments do not wait for each other. Running
-- this again keeps what was counted
create sequence if not exists erp.fulfillment_number;
create sequence if not exists erp.fulfillment_order_number;
grant usage on sequence erp.fulfillment_number, erp.fulfillment_order_number to service_writer;
alter table erp.number_range add column if not exists sequence regclass;
comment on column erp.number_range.sequence is
  'The sequence that counts in the place of last_number: nobody waits for others then, and what is undone '
  'leaves a gap. Null for ranges without gaps.';
comment on column erp.number_range.last_number is
  'The last number given; not used when a sequence counts.';
--!include erp/next_number.sql
with counted as (
  update erp.number_range r set sequence = format('erp.%I', r.technical_name || '_number')::regclass
  where r.technical_name in ('fulfillment', 'fulfillment_order') and r.sequence is null
  returning r.sequence, r.last_number
)
select setval(c.sequence, greatest(c.last_number, 1), c.last_number > 0) from counted c;

-- What is asked of each line becomes part of the statement that asks
drop function if exists ledger.place_of(uuid, uuid) cascade;
--!include ledger/place_of.sql
--!include erp/put_away_place.sql
--!include erp/put_away_drafts.sql
--!include ledger/read_counts.sql
