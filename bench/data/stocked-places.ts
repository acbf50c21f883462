import { withClient } from "../../src/postgres/client.ts";

/** A product and a bin that contains it. */
export interface StockedPlace {
  product: string;
  bin: string;
}

/** Reads products without batches, each with a bin that contains it, always the same ones. */
export function stockedPlaces(adminUrl: string, count: number): Promise<StockedPlace[]> {
  return withClient(adminUrl, async (client) => {
    const { rows } = await client.query<StockedPlace>(
      `select product, bin from (
         select distinct on (s.product_id) s.product_id as product, s.bin_location_id as bin
         from ledger.stock s join erp.product p on p.id = s.product_id
         where s.bin_location_id is not null and s.quantity > 0 and not p.is_batch_managed
         order by s.product_id, s.id
       ) s order by sha256(product::text::bytea) limit $1`,
      [count],
    );
    return rows;
  });
}
