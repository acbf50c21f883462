-- What all workflows share: states and numbers.
--!include functions/erp/next_state.sql
--!include functions/erp/next_number.sql
select api_meta.allow('service_writer', 'erp.state_transition', 'select');
select api_meta.allow('service_writer', 'erp.number_range', 'select', 'update (last_number)');
grant execute on function erp.next_state(text, text, text), erp.next_number(text) to service_writer;
