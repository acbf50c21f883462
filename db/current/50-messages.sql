-- Refusals that say what to do instead.

--!include ledger/require_picked.sql
--!include erp/faults_of_orders_named.sql
