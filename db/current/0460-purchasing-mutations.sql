-- The mutations of purchasing, in the head and in the version of June.
--!include functions/api/supplier_order.sql
--!include functions/api/product_supplier_configuration.sql
--!include functions/api/goods_receipt.sql

select api_meta.clone_types('api_unstable', 'api_2026_06_unstable');
select api_meta.clone_functions('api_unstable', 'api_2026_06_unstable');
