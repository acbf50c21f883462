import type { Pool } from "pg";

/** Rows of the documents, and the figures that are stored beside them, at one moment. */
export interface Facts {
  movements: Movement[];
  products: Row[];
  warehouses: Row[];
  bins: Row[];
  batches: Row[];
  safety: Row[];
  orders: Row[];
  lines: Row[];
  fulfillmentOrders: Row[];
  assigned: Row[];
  shipped: Row[];
  reservations: Row[];
  returns: Row[];
  returnLines: Row[];
  receipts: Row[];
  receiptLines: Row[];
  stocktakes: Row[];
  sheets: Row[];
  counts: Row[];
  stocktakeLines: Row[];
  stored: Row[];
  clock: Row[];
}
export type Row = Record<string, any>;
/** One call of the business, and what came of it. */
export interface Step {
  name: string;
  input: any;
  codes: string[];
  payload: any;
}
export interface Movement {
  id: string;
  product: string;
  quantity: number;
  from: string;
  to: string;
  process: string;
  batches: Record<string, number> | null;
}

const place = (side: string) =>
  `concat(m.${side}_location_type_technical_name, ':', coalesce(m.${side}_warehouse_id, m.${side}_bin_location_id, m.${side}_order_id,
     m.${side}_return_order_id, m.${side}_goods_receipt_id)::text)`;
const lists: Record<keyof Facts, string> = {
  movements: `select m.id, m.product_id as product, m.quantity, ${place("source")} as "from", ${place("destination")} as "to",
    m.process_type_technical_name as process,
    (select jsonb_object_agg(b.batch_id, b.quantity) from ledger.stock_movement_batch b where b.stock_movement_id = m.id) as batches
    from ledger.stock_movement m order by m.id`,
  products: `select id, product_number as name, is_batch_managed as "hasBatches", allows_backorders as "allowsBackorders" from erp.product order by product_number`,
  warehouses: `select w.id, w.code, w.is_stock_available_for_sale as sells, w.is_default as "isDefault" from erp.warehouse w order by w.code`,
  bins: `select id, code, warehouse_id as warehouse, stock_state as state from erp.bin_location order by code`,
  batches: `select id, product_id as product, number, is_held as "isHeld", is_expired as "isExpired",
    best_before_date < current_date as "isOver" from erp.batch order by number`,
  safety: `select product_id as product, warehouse_id as warehouse, safety_stock as units from erp.product_warehouse_configuration order by id`,
  orders: `select id, state, delivery_state as delivery from erp.sales_order order by id`,
  lines: `select id, order_id as "order", product_id as product, quantity, shipped_quantity as shipped, returned_quantity as returned
    from erp.sales_order_line_item where type = 'product' order by id`,
  fulfillmentOrders: `select f.id, f.state, f.destination_order_id as "order", l.warehouse_id as warehouse
    from erp.fulfillment_order f left join erp.location l on l.id = f.source_warehouse_location_id order by f.id`,
  assigned: `select id, fulfillment_order_id as owner, destination_order_line_item_id as line, product_id as product, quantity,
    fulfilled_quantity as fulfilled from erp.fulfillment_order_line_item order by id`,
  shipped: `select i.id, f.id as fulfillment, f.state, i.fulfillment_order_line_item_id as assigned, i.quantity
    from erp.fulfillment_line_item i join erp.fulfillment f on f.id = i.fulfillment_id order by i.id`,
  reservations: `select id, product_id as product, warehouse_id as warehouse, bin_location_id as bin, batch_id as batch,
    order_line_item_id as line, quantity, open_quantity as open, state, coalesce(expires_at <= clock_timestamp(), false) as "isOverdue"
    from erp.stock_reservation order by id`,
  returns: `select id, state, order_id as "order", refund_amount as refund from erp.return_order order by id`,
  returnLines: `select id, return_order_id as "return", order_line_item_id as line, product_id as product, batch_id as batch, quantity,
    concat_ws(' ', received_quantity, restocked_quantity, quarantined_quantity, disposed_quantity, missing_quantity) as figures
    from erp.return_order_line_item order by id`,
  receipts: `select id, type, state from erp.goods_receipt order by id`,
  receiptLines: `select id, goods_receipt_id as receipt, product_id as product, batch_id as batch, quantity,
    planned_disposal_quantity as disposal, return_order_line_item_id as "returnLine" from erp.goods_receipt_line_item order by id`,
  stocktakes: `select id, state, warehouse_id as warehouse, created_at as "createdAt" from erp.stocktake order by id`,
  sheets: `select id, stocktake_id as stocktake, round, completed_at is not null as "isComplete" from erp.stocktake_sheet order by id`,
  counts: `select id, sheet_id as sheet, bin_location_id as bin, warehouse_id as warehouse, product_id as product, batch_id as batch,
    quantity from erp.stocktake_count order by id`,
  stocktakeLines: `select id, stocktake_id as stocktake, state, product_id as product, bin_location_id as bin, warehouse_id as warehouse,
    batch_id as batch, expected_quantity as expected, counted_quantity as counted, booked_difference as booked
    from erp.stocktake_line order by id`,
  stored: `select 'product ' || product_number as what, concat_ws(' ', 'physical', physical_stock, 'not for sale', stock_not_available_for_sale,
      'reserved', reserved_stock, 'safety', safety_stock, 'available', available_stock) as figures from erp.product
    union all select concat_ws(' ', p.product_number, 'in', w.code), concat_ws(' ', 'there', s.quantity, 'held', s.held_quantity,
      'reserved', s.reserved_quantity, 'safety', s.safety_stock, 'available', s.available_quantity)
      from ledger.warehouse_stock s join erp.product p on p.id = s.product_id join erp.warehouse w on w.id = s.warehouse_id
    union all select 'batch ' || number, physical_stock::text from erp.batch`,
  clock: "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') as now",
};

const query = `select ${Object.entries(lists)
  .map(([name, text]) => `coalesce((select jsonb_agg(to_jsonb(x)) from (${text}) x), '[]') as "${name}"`)
  .join(", ")}`;

/** Reads everything that the figures follow from, in one statement. */
export async function readFacts(owner: Pool): Promise<Facts> {
  const { rows } = await owner.query({ name: "facts", text: query });
  return rows[0];
}

export const sum = <T>(list: Iterable<T>, units: (one: T) => number): number =>
  [...list].reduce((total, one) => total + units(one), 0);
export const isOpen = ({ state }: Row): boolean => ["Open", "InProgress", "OnHold"].includes(state);

/** What a merchant would count in the warehouses, and what he would write down beside it. */
export class Books {
  readonly facts: Facts;
  /** Units by product, place and batch; without a batch `-`. */
  readonly piles: {
    product: string;
    place: string;
    warehouse: string;
    bin: string | null;
    batch: string;
    units: number;
  }[] = [];
  readonly #row = new Map<string, Row>();

  constructor(facts: Facts) {
    this.facts = facts;
    for (const list of Object.values(facts))
      for (const row of list) if ("id" in row) this.#row.set(row.id, row);
    const units = new Map<string, number>();
    const add = (key: string, quantity: number) => units.set(key, (units.get(key) ?? 0) + quantity);
    for (const { product, quantity, from, to, batches } of facts.movements) {
      const rest = quantity - sum(Object.values(batches ?? {}), (some) => some);
      for (const [batch, some] of [...Object.entries(batches ?? {}), ["-", rest] as const])
        for (const [place, sign] of [
          [from, -1],
          [to, 1],
        ] as const)
          add(`${product} ${place} ${batch}`, sign * some);
    }
    for (const [key, some] of units) {
      const [product, place, batch] = key.split(" ") as [string, string, string];
      const [type, id] = place.split(":") as [string, string];
      if (some === 0 || id === "") continue;
      const bin = type === "bin_location" ? id : null;
      const warehouse = bin ? this.row(bin)?.warehouse : type === "warehouse" ? id : "";
      this.piles.push({ product, place, warehouse, bin, batch, units: some });
    }
  }

  row(id: string): Row {
    return this.#row.get(id)!;
  }
  /** Whether units in a bin, of a batch, can be sold. */
  isSellable({ bin, batch }: { bin: string | null; batch: string }): boolean {
    const its = batch === "-" ? null : this.row(batch);
    return (bin === null || this.row(bin).state === "sellable") && !its?.isHeld && !its?.isExpired;
  }
  /** Units of a product in a place, of one batch or of all. */
  unitsAt(product: string, place: string, batch?: string): number {
    const here = this.piles.filter((pile) => pile.product === product && pile.place === place);
    return sum(
      here.filter((pile) => batch === undefined || pile.batch === batch),
      (pile) => pile.units,
    );
  }
  /** Open units of an order line that no open fulfillment order has; 0 when the order isn't open. */
  uncovered(line: Row): number {
    if (!["open", "in_progress"].includes(this.row(line.order).state) || line.product === null) return 0;
    const assigned = this.facts.assigned.filter((one) => one.line === line.id && isOpen(this.row(one.owner)));
    return Math.max(0, line.quantity - line.shipped - sum(assigned, (one) => one.quantity - one.fulfilled));
  }
  openReservations(product: string, warehouse?: string): Row[] {
    return this.facts.reservations.filter(
      (one) => one.product === product && one.open > 0 && (!warehouse || one.warehouse === warehouse),
    );
  }
  ofWarehouse(product: string, warehouse: string) {
    const here = this.piles.filter((pile) => pile.product === product && pile.warehouse === warehouse);
    const there = sum(here, (pile) => pile.units);
    const held = sum(
      here.filter((pile) => !this.isSellable(pile)),
      (pile) => pile.units,
    );
    const assigned = this.facts.assigned.filter(
      (one) =>
        one.product === product && isOpen(this.row(one.owner)) && this.row(one.owner).warehouse === warehouse,
    );
    const reserved =
      sum(assigned, (one) => one.quantity - one.fulfilled) +
      sum(this.openReservations(product, warehouse), (one) => one.open);
    const safety = sum(
      this.facts.safety.filter((one) => one.product === product && one.warehouse === warehouse),
      (one) => one.units,
    );
    const left = there - held - reserved;
    return { there, held, reserved, safety, available: left - Math.max(0, Math.min(left, safety)) };
  }
  ofProduct(product: string) {
    const parts: Row[] = this.facts.warehouses.map((one) => ({
      ...one,
      ...this.ofWarehouse(product, one.id),
    }));
    const physical = sum(parts, (one) => one.there);
    const notForSale = sum(parts, (one) => (one.sells ? one.held : one.there));
    const open = this.facts.lines.filter(
      (line) => line.product === product && ["open", "in_progress"].includes(this.row(line.order).state),
    );
    const reserved =
      sum(open, (line) => line.quantity - line.shipped) +
      sum(
        this.openReservations(product).filter((one) => one.line === null),
        (one) => one.open,
      );
    const safety = sum(
      parts.filter((one) => one.sells),
      (one) => one.safety,
    );
    const left = physical - notForSale - reserved;
    return { physical, notForSale, reserved, safety, available: left - Math.max(0, Math.min(left, safety)) };
  }
  /** The stored figures as they should be. */
  expected(): Map<string, string> {
    const figures = new Map<string, string>();
    for (const { id, name } of this.facts.products) {
      const { physical, notForSale, reserved, safety, available } = this.ofProduct(id);
      figures.set(
        `product ${name}`,
        `physical ${physical} not for sale ${notForSale} reserved ${reserved} safety ${safety} available ${available}`,
      );
      for (const warehouse of this.facts.warehouses) {
        const there = this.ofWarehouse(id, warehouse.id);
        figures.set(
          `${name} in ${warehouse.code}`,
          Object.entries(there)
            .map((pair) => pair.join(" "))
            .join(" "),
        );
      }
    }
    for (const { id, number } of this.facts.batches)
      figures.set(
        `batch ${number}`,
        String(
          sum(
            this.piles.filter((pile) => pile.batch === id && pile.warehouse),
            (pile) => pile.units,
          ),
        ),
      );
    return figures;
  }
}
