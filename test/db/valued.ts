import { queryRows, useDatabase } from "../lib/database.ts";

export type Method = "moving_average" | "period_average" | "fifo";

export interface Receipt {
  type?: "Supplier" | "Free" | "Customer";
  tax?: "gross" | "net" | "tax-free";
  /** Units of its currency per unit of the default currency. */
  factor?: number;
  /** Quantity, price, tax rate. */
  lines: [quantity: number, price: number | null, taxRate?: number][];
}

const special = /^(unknown|stock_correction|initialization|import)$/;
const kinds = { order: "order", return: "return_order", receipt: "goods_receipt", box: "stock_container" };

/** The kind and the key of a place: `hall`, `hall bin`, `shed`, `box 1`, `order 1`, `return 1`, `receipt 1`, or a special one. */
function placeOf(name: string): [type: string, column: string] {
  if (special.test(name)) return ["special_stock_location", "special_stock_location_technical_name"];
  if (name.endsWith("bin")) return ["bin_location", "bin_location_id"];
  const kind = kinds[name.split(" ")[0] as keyof typeof kinds] ?? "warehouse";
  return [kind, `${kind}_id`];
}

const scene = `
  insert into erp.warehouse (id, code, name, is_default, is_default_receiving)
    select md5(n)::uuid, n, n, n = 'hall', n = 'hall' from unnest('{hall,shed,loft}'::text[]) n;
  insert into erp.bin_location (id, warehouse_id, code) values (md5('hall bin')::uuid, md5('hall')::uuid, 'A-1');
  insert into erp.stock_container (id, number, warehouse_id) values (md5('box 1')::uuid, 'box', md5('shed')::uuid);
  insert into erp.product (id, product_number) select md5(n)::uuid, n from unnest('{hammer,nail}'::text[]) n;
  insert into erp.currency (iso_code, symbol, name, short_name, factor, is_default_currency)
    values ('EUR', '€', '{"en-GB":"Euro"}', '{"en-GB":"EUR"}', 1, true) on conflict do nothing;
  insert into erp.return_order (id, number) select md5('return ' || n)::uuid, 'return ' || n from generate_series(1, 3) n;
  insert into erp.sales_order (id, order_number, currency_id)
    select md5('order ' || n)::uuid, 'valued ' || n, c.id from generate_series(1, 3) n, erp.currency c where c.is_default_currency`;

/** Closes a report without calculating it. */
export const closed = `
  update valuation.report set number = (select coalesce(max(number), 0) + 1 from valuation.report), closed_at = now(),
    hash = '-', lines_hash = '-', state_hash = '-' where id = $1`;

/** A database in whose ledger goods move by hand, with the values that follow. Each piece of work is undone. */
export function useValues() {
  const used = useDatabase("template_schema");
  const rows = queryRows(() => used.client);
  const one = async (text: string, values: unknown[] = []) => (await rows(text, values))[0] ?? null;

  const undone = async (work: () => Promise<void>) => {
    await used.client.query("begin");
    try {
      await used.client.query(scene);
      await work();
    } finally {
      await used.client.query("rollback");
    }
  };

  /** Moves units, and returns the number of the movement. */
  const move = async (from: string, to: string, quantity: number, product = "hammer"): Promise<number> => {
    const side = (name: string) => (special.test(name) ? `'${name}'` : `md5('${name}')::uuid`);
    const [[fromType, fromColumn], [toType, toColumn]] = [placeOf(from), placeOf(to)];
    const { id } = await one(
      `insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name, source_${fromColumn},
         destination_location_type_technical_name, destination_${toColumn})
       values (md5($1)::uuid, $2, $3, ${side(from)}, $4, ${side(to)}) returning id`,
      [product, quantity, fromType, toType],
    );
    await rows("select ledger.number_movements()");
    return Number(
      (await one("select sequence from ledger.movement_sequence where movement_id = $1", [id])).sequence,
    );
  };

  const receipt = async (name: string, { type = "Free", tax = "net", factor = 1, lines }: Receipt) => {
    await rows(
      `insert into erp.goods_receipt (id, number, type, tax_status, currency_factor, warehouse_id, state)
       values (md5('receipt ' || $1)::uuid, $1, $2, $3, $4, md5('hall')::uuid, 'completed')`,
      [name, type, tax, factor],
    );
    for (const [quantity, price, rate = null] of lines)
      await rows(
        `insert into erp.goods_receipt_line_item (goods_receipt_id, product_id, quantity, unit_price, tax_rate)
         values (md5('receipt ' || $1)::uuid, md5('hammer')::uuid, $2, $3, $4)`,
        [name, quantity, price, rate],
      );
  };
  /** Receives goods from nowhere into the hall, at prices. */
  const receive = async (name: string, given: Receipt) => {
    await receipt(name, given);
    const all = given.lines.reduce((sum, [quantity]) => sum + Math.max(quantity, 0), 0);
    await move("unknown", `receipt ${name}`, all);
    return move(`receipt ${name}`, "hall", all);
  };

  const newest = "(select coalesce(max(sequence), 0) from ledger.movement_sequence)";
  const open = (sequence: number, value: number) =>
    rows(
      `insert into valuation.opening_value (stock_movement_id, product_id, unit_value)
       select m.id, m.product_id, $2 from ledger.movement_sequence s join ledger.stock_movement m on m.id = s.movement_id
       where s.sequence = $1`,
      [sequence, value],
    );
  const land = (name: string, amount: number, day = "2026-01-01") =>
    rows(
      `insert into valuation.landed_cost (goods_receipt_id, product_id, amount, day, sequence)
       values (md5('receipt ' || $1)::uuid, md5('hammer')::uuid, $2, $3, ${newest})`,
      [name, amount, day],
    );
  const writeDown = (amount: number, day = "2026-01-01") =>
    rows(
      `insert into valuation.write_down (product_id, amount, day, sequence, reason)
       values (md5('hammer')::uuid, $1, $2, ${newest}, 'Scratched')`,
      [amount, day],
    );

  /** Closes the period as a report does. */
  const close = async (method: Method, day = "2026-01-01") => {
    const { id } = await one(
      `insert into valuation.report (reference_date, sequence, method) values ($2, ${newest}, $1) returning id`,
      [method, day],
    );
    const run = `from (select $1::uuid as report_id) r cross join lateral`;
    const given = `($2, ${newest}, null, $3)`;
    await rows(
      `with product as (insert into valuation.report_product
           select r.report_id, s.product_id, p.product_number, s.quantity, s.value, s.last_unit_cost, s.layers, s.landed_expense,
             s.variance ${run} valuation.states${given} s join erp.product p on p.id = s.product_id),
         outside as (insert into valuation.report_outside (report_id, place_type, place, product_id, quantity, value)
           select r.report_id, s.place_type, s.place, s.product_id, s.quantity, s.value ${run} valuation.outside${given} s)
       insert into valuation.report_warehouse (report_id, product_id, product_number, warehouse_id, quantity, unit_cost, value, amount)
       select r.report_id, s.product_id, '', s.warehouse_id, s.quantity, 0, s.value, 0 ${run} valuation.shares${given} s`,
      [id, method, day],
    );
    await rows(closed, [id]);
    return id as string;
  };

  /** Units and value of a product, as `6 × 15`; a trailing zero of decimals is left out. */
  const state = async (method: Method = "moving_average", upto?: number, day: string | null = null) => {
    const found = await one(
      `select quantity, trim_scale(value) as value, trim_scale(last_unit_cost) as cost, layers,
         trim_scale(landed_expense) as landed, trim_scale(variance) as variance
       from valuation.states($1, ${upto ?? newest}, array[md5('hammer')::uuid], $2)`,
      [method, day],
    );
    return found && { ...found, quantity: Number(found.quantity) };
  };
  const value = async (method: Method = "moving_average", upto?: number) => {
    const found = await state(method, upto);
    return found && `${found.quantity} × ${found.value}`;
  };
  /** The values that movements of hammers brought or took, in their order. */
  const costs = async (method: Method = "moving_average") =>
    (
      await rows(
        `select trim_scale(value)::text as value from valuation.costs($1, ${newest}, array[md5('hammer')::uuid]) order by sequence`,
        [method],
      )
    ).map((row) => row.value);
  /** What a place outside holds, as `2 × 5`. */
  const outside = async (name: string, method: Method = "moving_average") => {
    const found = await one(
      `select quantity, trim_scale(value) as value from valuation.outside($1, ${newest})
       where place = md5($2)::uuid::text and product_id = md5('hammer')::uuid`,
      [method, name],
    );
    return found && `${found.quantity} × ${found.value}`;
  };
  const faults = async (method: Method = "moving_average") =>
    (
      await rows(`select code, sequence from valuation.faults($1, ${newest}) order by sequence`, [method])
    ).map(({ code, sequence }) => `${code} ${sequence}`);
  return {
    used,
    rows,
    undone,
    move,
    receipt,
    receive,
    open,
    land,
    writeDown,
    close,
    state,
    value,
    costs,
    outside,
    faults,
  };
}
