import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type pg from "pg";
import { useDatabase } from "../lib/database.ts";

/** Statements that must fail, by the constraint that stops them. Each table has a row already. */
const refusals: [constraint: string, statement: string][] = [
  [
    "batch_number_is_unique_per_product",
    "insert into erp.batch (product_id, number) select product_id, number from erp.batch limit 1",
  ],
  [
    "bin_location_code_is_unique_per_warehouse",
    "insert into erp.bin_location (warehouse_id, code) select warehouse_id, code from erp.bin_location limit 1",
  ],
  [
    "product_number_is_unique",
    "insert into erp.product (product_number) select product_number from erp.product limit 1",
  ],
  ["tag_name_is_unique", "insert into erp.tag (name) select name from erp.tag limit 1"],
  [
    "customer_email_is_unique_per_channel",
    "insert into erp.customer (customer_number, email, first_name, last_name, group_id, sales_channel_id) select 'new', email, 'a', 'b', group_id, sales_channel_id from erp.customer where bound_sales_channel_id is null limit 1",
  ],
  ["stock_movement_quantity_is_positive", movement("quantity => 0")],
  ["stock_movement_names_its_places", movement("source => null")],
  ["stock_movement_source_id_is_of_its_type", movement("type => 'bin_location'")],
  ["stock_movement_goes_somewhere_else", movement("destination => 'unknown'")],
  [
    "order_line_item_quantity_is_positive",
    "update erp.sales_order_line_item set quantity = 0, shipped_quantity = 0",
  ],
  [
    "order_line_item_ships_no_more_than_ordered",
    "update erp.sales_order_line_item set shipped_quantity = quantity + 1",
  ],
  [
    "order_line_item_product_only_on_product_lines",
    "update erp.sales_order_line_item set type = 'custom' where product_id is not null",
  ],
  [
    "goods_receipt_line_item_disposes_no_more_than_received",
    "update erp.goods_receipt_line_item set planned_disposal_quantity = quantity + 1 where quantity > 0",
  ],
  [
    "goods_receipt_rate_source_only_when_imported",
    "update erp.goods_receipt set currency_factor_origin_type = 'Manual', currency_factor_origin_source = 'ECB'",
  ],
  [
    "product_supplier_configuration_is_unique",
    "insert into erp.product_supplier_configuration (product_id, supplier_id) select product_id, supplier_id from erp.product_supplier_configuration limit 1",
  ],
  [
    "product_supplier_configuration_has_one_default",
    "insert into erp.product_supplier_configuration (product_id, supplier_id, supplier_is_default) select c.product_id, s.id, true from erp.product_supplier_configuration c, erp.supplier s where c.supplier_is_default and not exists (select from erp.product_supplier_configuration o where o.product_id = c.product_id and o.supplier_id = s.id) limit 1",
  ],
  ["product_stock_not_for_sale_is_not_negative", "update erp.product set stock_not_available_for_sale = -1"],
  [
    "stock_quantity_is_not_negative",
    "update ledger.stock set quantity = -1 where location_type_technical_name = 'warehouse'",
  ],
  ["warehouse_is_default_once", "update erp.warehouse set is_default = true"],
  ["currency_default_has_factor_one", "update erp.currency set factor = 2 where is_default_currency"],
  [
    "fulfillment_order_external_has_no_warehouse_location",
    "update erp.fulfillment_order set type = 'ExternalToOrder' where source_warehouse_location_id is not null",
  ],
  // A trigger fills tracking_codes from these
  [
    "order_tracking_codes_are_strings",
    "update erp.sales_order set entered_tracking_codes = array[null] where id = (select id from erp.sales_order limit 1)",
  ],
  [
    "document_static_has_no_config",
    `update erp.document set static = true, config = '{"a":1}' where document_number is null`,
  ],
  ["localized_text_has_the_default_locale", `update erp.country set name = '{"de-DE":"Land"}'`],
];

function movement(change: string): string {
  const defaults = {
    quantity: "1",
    source: "'unknown'",
    type: "'special_stock_location'",
    destination: "'import'",
  };
  const { quantity, source, type, destination } = {
    ...defaults,
    ...Object.fromEntries([change.split(" => ")]),
  } as typeof defaults;
  return `insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name, source_special_stock_location_technical_name,
      destination_location_type_technical_name, destination_special_stock_location_technical_name)
    select id, ${quantity}, ${type}, ${source}, 'special_stock_location', ${destination} from erp.product limit 1`;
}

describe("rules of the tables", () => {
  const used = useDatabase("template_demo");

  for (const [constraint, statement] of refusals) {
    it(constraint, async () => {
      await assert.rejects(used.client.query(statement), (error: pg.DatabaseError) => {
        assert.equal(error.constraint, constraint, error.message);
        return true;
      });
    });
  }

  it("always has a default warehouse", async () => {
    await assert.rejects(used.client.query("update erp.warehouse set is_default = false"), {
      constraint: "warehouse_has_its_defaults",
    });
  });

  it("has books that add up", async () => {
    assert.deepEqual((await used.client.query("select * from ledger.proof limit 5")).rows, []);
  });

  it("notices when they don't", async () => {
    await used.client.query("begin");
    await used.client.query(
      "update erp.product set physical_stock = physical_stock + 1 where id = (select id from erp.product limit 1)",
    );
    const { rows } = await used.client.query("select figure from ledger.proof");
    await used.client.query("rollback");
    assert.deepEqual(rows, [{ figure: "product.physical_stock" }]);
  });
});

describe("the role of the API", () => {
  const used = useDatabase("template_demo", "login");

  const asApi = async (scopes: string, statement: string) => {
    await used.client.query("begin");
    try {
      await used.client.query("set local role service_api");
      await used.client.query("select set_config('service.scopes', $1, true)", [scopes]);
      return (await used.client.query(statement)).rows;
    } finally {
      await used.client.query("rollback");
    }
  };

  it("sees no row without the scope, and all with it", async () => {
    const count = "select count(*)::int as count from api_unstable.products";
    assert.deepEqual(await asApi("orders:read", count), [{ count: 0 }]);
    assert.ok((await asApi("orders:read products:read", count))[0].count > 100);
  });

  it("isn't fooled by a scope that only looks alike", async () => {
    const count = "select count(*)::int as count from api_unstable.products";
    for (const scopes of ["products:rea", "xproducts:read", "products:read2", "products:*", "%"])
      assert.deepEqual(await asApi(scopes, count), [{ count: 0 }]);
  });

  it("may not write, nor read what no view shows", async () => {
    const denied = { code: "42501" };
    await assert.rejects(asApi("products:write", "update erp.product set name = 'x'"), denied);
    await assert.rejects(
      asApi("products:write", "insert into api_unstable.tags (name) values ('x')"),
      denied,
    );
    await assert.rejects(asApi("stocks:write", "delete from ledger.stock_movement"), denied);
    await assert.rejects(asApi("documents:read", "select content from erp.document"), denied);
    await assert.rejects(asApi("products:read", "select * from auth.credential"), denied);
    await assert.rejects(asApi("products:read", "create table api_unstable.t (id int)"), denied);
  });

  it("is all that the login role can be, besides the role for authentication", async () => {
    await assert.rejects(used.client.query("select * from erp.product"), { code: "42501" });
    await assert.rejects(used.client.query("set role service_owner"), { code: "42501" });
  });
});
