-- Floating point keeps 15 digits; larger amounts came to totals that no client can be told
alter table erp.product_price drop constraint if exists product_price_is_an_amount;
alter table erp.product_price add constraint product_price_is_an_amount
  check (net < 1e15 and gross < 1e15) not valid;
comment on constraint product_price_is_an_amount on erp.product_price is
  E'@userError OUT_OF_RANGE net,gross\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.product_purchase_price drop constraint if exists product_purchase_price_is_an_amount;
alter table erp.product_purchase_price add constraint product_purchase_price_is_an_amount
  check (net < 1e15 and gross < 1e15) not valid;
comment on constraint product_purchase_price_is_an_amount on erp.product_purchase_price is
  E'@userError OUT_OF_RANGE net,gross\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.product_supplier_price drop constraint if exists product_supplier_price_is_an_amount;
alter table erp.product_supplier_price add constraint product_supplier_price_is_an_amount
  check (net < 1e15 and gross < 1e15) not valid;
comment on constraint product_supplier_price_is_an_amount on erp.product_supplier_price is
  E'@userError OUT_OF_RANGE net,gross\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.supplier drop constraint if exists supplier_minimum_order_value_is_an_amount;
alter table erp.supplier add constraint supplier_minimum_order_value_is_an_amount
  check (minimum_order_value < 1e15) not valid;
comment on constraint supplier_minimum_order_value_is_an_amount on erp.supplier is
  E'@userError OUT_OF_RANGE minimum_order_value\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.supplier_order_line_item drop constraint if exists supplier_order_line_item_unit_price_is_an_amount;
alter table erp.supplier_order_line_item add constraint supplier_order_line_item_unit_price_is_an_amount
  check (abs(unit_price) < 1e15) not valid;
comment on constraint supplier_order_line_item_unit_price_is_an_amount on erp.supplier_order_line_item is
  E'@userError OUT_OF_RANGE unit_price\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.goods_receipt_line_item drop constraint if exists goods_receipt_line_item_unit_price_is_an_amount;
alter table erp.goods_receipt_line_item add constraint goods_receipt_line_item_unit_price_is_an_amount
  check (abs(unit_price) < 1e15) not valid;
comment on constraint goods_receipt_line_item_unit_price_is_an_amount on erp.goods_receipt_line_item is
  E'@userError OUT_OF_RANGE unit_price\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.sales_order_line_item drop constraint if exists order_line_item_unit_price_is_an_amount;
alter table erp.sales_order_line_item add constraint order_line_item_unit_price_is_an_amount
  check (abs(unit_price) < 1e15) not enforced;
comment on constraint order_line_item_unit_price_is_an_amount on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE unit_price\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.sales_order_line_item drop constraint if exists order_line_item_total_price_is_an_amount;
alter table erp.sales_order_line_item add constraint order_line_item_total_price_is_an_amount
  check (abs(total_price) < 1e15) not enforced;
comment on constraint order_line_item_total_price_is_an_amount on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE total_price\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.goods_receipt drop constraint if exists goods_receipt_currency_factor_is_a_rate;
alter table erp.goods_receipt add constraint goods_receipt_currency_factor_is_a_rate
  check (currency_factor between 1e-12 and 1e12) not valid;
comment on constraint goods_receipt_currency_factor_is_a_rate on erp.goods_receipt is
  E'@userError OUT_OF_RANGE currency_factor\n'
  'An exchange rate must be from 0.000000000001 to 1,000,000,000,000.';
--!include erp/set_prices.sql
--!include erp/set_supplier_prices.sql
--!include erp/check_supplier_order_lines.sql
--!include erp/check_goods_receipt_lines.sql
