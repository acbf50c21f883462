--! Previous: sha1:fe1fa718b16b4ac9e47c18a97dda4ca0f363067c
--! Hash: sha1:de61304e595248933085d1deeaec65e3abdd614e
--! Message: addresses by one statement

--! split: 0100-addresses.sql
-- The addresses of all rows are looked at by one statement
--! Included erp/address_faults.sql
-- In a form that becomes part of the statement that calls it
create or replace function erp.address_faults(address jsonb) returns setof text
language sql immutable parallel safe
begin atomic
  select case
    when a.key <> all (erp.address_keys())
      then format('An address has no key "%s", only %s.', left(a.key, 100),
        array_to_string(erp.address_keys(), ', '))
    else format('In an address, %s must be a text or null.', a.key) end
  from jsonb_each(case when jsonb_typeof(address) = 'object' then address end) a
  where a.key <> all (erp.address_keys()) or jsonb_typeof(a.value) not in ('string', 'null');
end;
comment on function erp.address_faults(jsonb) is
  'What is wrong with an address that is entered for a warehouse or a supplier. That it is an object is a '
  'rule of the tables.';
grant execute on function erp.address_faults(jsonb) to service_writer;

create or replace function erp.require_address(address jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  fault constant text := (select f from erp.address_faults(address) f limit 1);
begin
  if fault is not null then
    perform mutation.refuse('INVALID', fault, '{address}');
  end if;
end
$$;
comment on function erp.require_address(jsonb) is
  'Refuses an address with keys or values that clients don''t know. User error INVALID.';
grant execute on function erp.require_address(jsonb) to service_writer;

create or replace function erp.faults_of_addresses(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (f.line, 'INVALID', f.fault, array['address'], null)::mutation.row_fault)
  from (
    select u.line, min(a.fault) as fault
    from unnest(rows) u cross join lateral erp.address_faults(u.given -> 'address') a (fault) group by u.line
  ) f;
end;
comment on function erp.faults_of_addresses(mutation.upsert_row[]) is
  'What is wrong with the addresses that rows of an upsert give.';
grant execute on function erp.faults_of_addresses(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/address_faults.sql
drop function if exists erp.address_fault(jsonb);
