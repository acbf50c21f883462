const columns = ["source", "destination"]
  .flatMap((side) =>
    ["location_type", "warehouse", "bin_location", "order", "goods_receipt", "special_stock_location"].map(
      (what) => (/type|special/.test(what) ? `${side}_${what}_technical_name` : `${side}_${what}_id`),
    ),
  )
  .join();

/**
 * Inserts by hand what a booking booked: its movements by one statement, their batches, by the place of their movement from 1,
 * by another. Returns the ids of the movements.
 */
export async function insertBookings(
  rows: (text: string, values?: unknown[]) => Promise<any[]>,
  movements: any[],
  batches: [batchId: string, quantity: number, nth: number][],
): Promise<string[]> {
  const inserted = await rows(
    `insert into ledger.stock_movement (product_id, quantity, process_type_technical_name, comment, ${columns})
     select product_id, quantity, process_type_technical_name, comment, ${columns}
     from jsonb_populate_recordset(null::ledger.stock_movement, $1) returning id`,
    [JSON.stringify(movements)],
  );
  const named = batches.map(([batch_id, quantity, nth]) => ({ ...inserted[nth - 1], batch_id, quantity }));
  if (named.length > 0)
    await rows(
      `insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
       select id, batch_id, quantity from jsonb_to_recordset($1) m (id uuid, batch_id uuid, quantity integer)`,
      [JSON.stringify(named)],
    );
  return inserted.map(({ id }) => id);
}
