create or replace function erp.invoice_faults(config jsonb) returns table (rule text, field text, message text) language sql immutable begin atomic select '', '', '' where false; end;
comment on function erp.invoice_faults(jsonb) is 'Stub.';
grant execute on function erp.invoice_faults(jsonb) to service_writer;
