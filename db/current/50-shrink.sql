-- The same rules in fewer places
--!include events/topics.sql
--!include erp/faults_of_lines.sql
--!include erp/check_goods_receipt_lines.sql
--!include erp/check_supplier_order_lines.sql
--!include erp/check_return_lines.sql
--!include erp/set_prices_of_goods_receipt.sql
--!include erp/prices_with_codes.sql
drop function if exists api_unstable.products_currency_prices(api_unstable.products);
--!include api/products_currency_prices.sql
drop function if exists api_unstable.products_currency_purchase_prices(api_unstable.products);
--!include api/products_currency_purchase_prices.sql
drop function if exists api_unstable.product_supplier_configurations_currency_purchase_prices(
  api_unstable.product_supplier_configurations
);
--!include api/product_supplier_configurations_currency_purchase_prices.sql
