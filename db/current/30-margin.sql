--!include valuation/movements.sql
--!include valuation/bookings.sql
--!include valuation/events.sql
--!include valuation/entries.sql
--!include valuation/outside.sql
--!include valuation/cost_of_order.sql
--!include valuation/cost_of_fulfillment.sql
drop function if exists valuation.outside_of(valuation.run);
