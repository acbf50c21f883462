import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { useDatabase } from "../lib/database.ts";
import { assertProof } from "../lib/proof.ts";
import { voidReports } from "../lib/void-reports.ts";

/** Orders with documents can't be deleted. */
const hasNoDocument = "id not in (select order_id from erp.document where order_id is not null)";

/** Changes of many rows of the demonstration shop by an administrator, in one statement. */
const statements = [
  "update erp.sales_order set state = 'cancelled' where state = 'open'",
  "update erp.sales_order set state = 'open' where state in ('cancelled', 'completed') and right(id::text, 1) < '8'",
  "update erp.sales_order set state = case state when 'open' then 'completed' else 'open' end, tax_status = 'tax-free'",
  "update erp.sales_order_line_item set quantity = quantity + 3, total_price = total_price * 2",
  "update erp.sales_order_line_item set shipped_quantity = quantity where shipped_quantity = 0 and right(id::text, 1) < '4'",
  "update erp.sales_order_line_item set product_id = (select id from erp.product limit 1) where product_id is not null and right(id::text, 1) < '4'",
  "delete from erp.sales_order_line_item where right(id::text, 1) = '5'",
  `delete from erp.sales_order where right(id::text, 1) < '8' and ${hasNoDocument}`,
  "update erp.fulfillment_order set state = 'Cancelled', state_before_hold = null, hold_comment = null where state = 'OnHold'",
  "update erp.fulfillment_order set state = 'Open' where state in ('Closed', 'Cancelled') and right(id::text, 1) < '8'",
  `update erp.fulfillment_order set source_warehouse_location_id = (select l.id from erp.location l join erp.warehouse w on w.id = l.warehouse_id where w.is_default)
   where source_warehouse_location_id is not null`,
  "update erp.fulfillment_order_line_item set quantity = quantity + 2",
  "update erp.fulfillment_order_line_item set destination_order_line_item_id = null where right(id::text, 1) = '7'",
  "delete from erp.fulfillment_order_line_item where right(id::text, 1) = '8'",
  "delete from erp.fulfillment_order where right(id::text, 1) = '9'",
  "update erp.fulfillment set state = 'Cancelled' where right(id::text, 1) < '8'",
  "update erp.fulfillment_line_item set quantity = 1",
  "delete from erp.fulfillment_line_item where right(id::text, 1) = 'a'",
  "delete from erp.fulfillment_order_fulfillment where right(fulfillment_id::text, 1) = 'b'",
  "delete from erp.fulfillment where right(id::text, 1) = 'c'",
  "update erp.shipping_label set state = 'cancelled', cancelled_at = now() where state = 'created' and right(id::text, 1) < '8'",
  "update erp.shipping_label set tracking_codes = tracking_codes || '[\"more\"]'",
  "delete from erp.shipping_label where right(id::text, 1) > 'b'",
  "update erp.sales_order set tracking_codes = tracking_codes || '[\"by hand\"]'",
  "delete from erp.product p where right(id::text, 1) < '8' and not exists (select from erp.batch b join erp.product c on c.id = b.product_id where p.id in (c.id, c.parent_id))",
  "delete from erp.location",
  `delete from erp.sales_order where ${hasNoDocument}`,
];

describe("figures of orders, after a statement about many rows", () => {
  const used = useDatabase("template_demo");
  // What came back can't be taken out of what was shipped
  before(() =>
    used.client.query(
      `${voidReports}; delete from erp.return_order_charge; delete from erp.return_order_line_item; update erp.return_order set refund_amount = 0`,
    ),
  );

  // One after the other, each on the results of the earlier ones
  for (const statement of statements) {
    it(statement.replace(/\s+/g, " "), async () => {
      const { rowCount } = await used.client.query(statement);
      assert.ok(rowCount! > 0);
      await assertProof(used.client);
    });
  }
});
