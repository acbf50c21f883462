import { it } from "node:test";
import { defaultUntil, fillDemo } from "../../src/commands/demo.ts";
import { startService } from "../lib/service.ts";
it("finds", async () => {
  const service = await startService();
  try {
    await fillDemo({ connectionString: service.ownerUrl, scale: 1, until: defaultUntil });
    const q = async (sql: string) => console.log(JSON.stringify((await service.owner.query(sql)).rows, null, 0));
    await q(`select f.id, f.number, f.state, l.warehouse_id, i.id as line, p.product_number, p.gtin, p.is_batch_managed, i.quantity - i.fulfilled_quantity as open, w.available_quantity, (select sum(s.quantity) from ledger.stock s join erp.bin_location b on b.id = s.bin_location_id where s.product_id = p.id and b.warehouse_id = l.warehouse_id) as lying
      from erp.fulfillment_order f join erp.location l on l.id = f.source_warehouse_location_id join erp.fulfillment_order_line_item i on i.fulfillment_order_id = f.id
      join erp.product p on p.id = i.product_id join ledger.warehouse_stock w on w.product_id = p.id and w.warehouse_id = l.warehouse_id
      where f.state = 'Open' and f.type = 'WarehouseLocationToOrder' order by f.id desc limit 30`);
    await q("select state, count(*) from erp.pick_list group by 1 union all select state, count(*) from erp.pick_task group by 1 union all select state, count(*) from erp.pick_list_line group by 1");
    await q("select count(*) filter (where batch_id is null) a, count(batch_id) b, count(stock_container_id) c, count(bin_location_id) d, count(fulfillment_order_line_item_id) e, count(*) from erp.pick_list_line");
    await q("select * from ledger.proof limit 3");
  } finally {
    await service.close();
  }
});
