--!include ledger/keep_invoice_figures.sql
drop trigger if exists keep_figures_after_update on erp.invoice;
drop trigger if exists keep_figures_before_delete on erp.invoice;
drop trigger if exists keep_figures on erp.invoice;
create trigger keep_figures before update of cancellation_id or delete on erp.invoice
  for each row execute function ledger.keep_invoice_figures();
