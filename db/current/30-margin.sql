select api_meta.allow('service_writer', 'ledger.closing', 'select (sequence, least_id_after)');
--!include valuation/movements.sql
--!include valuation/bookings.sql
--!include valuation/events.sql
--!include valuation/entries.sql
--!include valuation/outside.sql
--!include valuation/cost_of_order.sql
--!include valuation/cost_of_fulfillment.sql
drop function if exists valuation.outside_of(valuation.run);
