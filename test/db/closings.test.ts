import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import pg from "pg";
import { queryRows, useDatabase } from "../lib/database.ts";
import { assertProof, ledgerDifferences } from "../lib/proof.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { until } from "../lib/until.ts";

/** One side of a movement, as it was when it was booked. */
interface Leg {
  movement: string;
  product: string;
  place: string;
  warehouse: string;
  batch: string | null;
  quantity: number;
  moment: bigint;
}

const microseconds = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint::text`;

describe("closings of the ledger", () => {
  const used = useDatabase("template_schema");
  const rows = queryRows(() => used.client);
  const warehouses: string[] = [];
  let products: string[];
  let batches: Map<string, string[]>;

  before(async () => {
    const made = await rows(
      `insert into erp.warehouse (code, name, is_default, is_default_receiving)
       select 'W' || n, 'W' || n, n = 1, n = 1 from generate_series(1, 3) n returning id`,
    );
    warehouses.push(...made.map(({ id }) => id));
    products = (
      await rows(
        `insert into erp.product (product_number, name, is_batch_managed)
         select 'P' || n, 'P' || n, n = 4 from generate_series(1, 4) n returning id`,
      )
    ).map(({ id }) => id);
    const ofLast = await rows(
      "insert into erp.batch (product_id, number) select $1, 'B' || n from generate_series(1, 2) n returning id",
      [products[3]],
    );
    batches = new Map([[products[3]!, ofLast.map(({ id }) => id)]]);
  });

  const close = async (most = 250_000): Promise<boolean> =>
    (await rows("select ledger.close_next($1) as closed", [most]))[0].closed;
  const newBin = async (warehouse: string): Promise<string> =>
    (
      await rows(
        "insert into erp.bin_location (warehouse_id, code) values ($1, left(uuidv7()::text || random(), 60)) returning id",
        [warehouse],
      )
    )[0].id;
  /** Numbers movements in the order of their commits, which isn't always the order of their ids. */
  const number = (ids: string[]) => rows("select ledger.number_movements($1)", [ids]);

  /** Inserts a movement between a bin and the outside, or another bin, perhaps of an earlier time. */
  async function insert(
    { product, source, destination, quantity, process }: Record<string, any>,
    at: string | null,
  ): Promise<string> {
    const [{ id }] = await rows(
      `insert into ledger.stock_movement (product_id, quantity, process_type_technical_name, created_at,
         source_location_type_technical_name, source_bin_location_id, source_special_stock_location_technical_name,
         destination_location_type_technical_name, destination_bin_location_id, destination_special_stock_location_technical_name)
       values ($1, $2, $3, date_trunc('second', $4::timestamptz),
         case when $5::uuid is null then 'special_stock_location' else 'bin_location' end, $5, case when $5::uuid is null then 'stock_correction' end,
         case when $6::uuid is null then 'special_stock_location' else 'bin_location' end, $6, case when $6::uuid is null then 'stock_correction' end)
       returning id`,
      [product, quantity, process, at, source, destination],
    );
    return id;
  }

  it("equal a plain sum over the movements, at every number and at many moments of a random business", async () => {
    const random = new Random(seed);
    const legs: Leg[] = [];
    const unnumbered: string[] = [];
    const sequences = new Map<string, number>();
    const bins = new Map<string, string>();
    const held = new Map<string, number>();
    const heldIn = (bin: string, product: string, batch = "") => held.get(`${bin} ${product} ${batch}`) ?? 0;
    let gone = 0;
    for (const warehouse of warehouses)
      for (let n = 0; n < 2; n++) bins.set(await newBin(warehouse), warehouse);

    /** Remembers a movement as it is now. */
    const record = async (id: string) => {
      const [row] = await rows(
        `select product_id as product, quantity, source_bin_location_id as source, destination_bin_location_id as destination,
           (select batch_id from ledger.stock_movement_batch b where b.stock_movement_id = m.id) as batch,
           ${microseconds(`least(m.created_at + m.microseconds * interval '1 microsecond',
             (select min(c.counted_at) from ledger.stock_count c where c.stock_movement_id = m.id))`)} as moment
         from ledger.stock_movement m where id = $1`,
        [id],
      );
      for (const [place, sign] of [
        [row.source, -1],
        [row.destination, 1],
      ] as const) {
        if (place === null) continue;
        const { product, batch } = row;
        const [quantity, warehouse] = [sign * row.quantity, bins.get(place)!];
        legs.push({ movement: id, product, place, warehouse, batch, quantity, moment: BigInt(row.moment) });
        for (const part of batch === null ? [""] : ["", batch])
          held.set(`${place} ${product} ${part}`, heldIn(place, product, part) + quantity);
      }
      unnumbered.push(id);
    };

    const steps: Record<string, () => Promise<void>> = {
      async move() {
        const [product, bin] = [random.oneOf(products), random.oneOf([...bins.keys()])];
        const batch = batches.has(product) ? random.oneOf(batches.get(product)!) : null;
        const left = heldIn(bin, product, batch ?? "");
        const leaves = left > 0 && random.next() < 0.5;
        const other = random.next() < 0.4 ? random.oneOf([...bins.keys()]) : null;
        if (other === bin) return;
        const quantity = leaves ? 1 + random.below(left) : 1 + random.below(9);
        const [source, destination] = leaves ? [bin, other] : [null, bin];
        // Some were booked up to two months ago, and are only imported now
        const at = random.next() < 0.2 ? new Date(Date.now() - random.below(60) * 86_400_000) : null;
        await rows("begin");
        const id = await insert(
          { product, source, destination, quantity, process: "incoming" },
          at && at.toISOString(),
        );
        if (batch !== null)
          await rows("insert into ledger.stock_movement_batch values ($1, $2, $3)", [id, batch, quantity]);
        await rows("commit");
        await record(id);
      },
      async count() {
        const [product, bin] = [random.oneOf(products.slice(0, 3)), random.oneOf([...bins.keys()])];
        const counted = new Date(Date.now() - random.below(40) * 86_400_000 - 1000).toISOString();
        const line = {
          ...{ product_id: product, source_bin_location_id: bin, quantity: 60 + random.below(40) },
          counted_at: random.next() < 0.7 ? counted : null,
        };
        // A count is refused if more has left since than was counted
        const found = await rows(
          "select (ledger.set_stock(array[jsonb_populate_record(null::ledger.line, $1)], null)).stock_movements as ids",
          [JSON.stringify(line)],
        ).catch((error: pg.DatabaseError) => {
          assert.equal(error.code, "UE001");
          return [{ ids: [] }];
        });
        for (const id of found[0].ids) await record(id);
      },
      async number() {
        // Any order: transactions end in another one than they begin
        while (unnumbered.length > 0 && random.next() < 0.8) {
          const [id] = unnumbered.splice(random.below(unnumbered.length), 1);
          await number([id!]);
        }
        const all = await rows("select sequence::int as sequence, movement_id from ledger.movement_sequence");
        for (const row of all) sequences.set(row.movement_id, row.sequence);
      },
      async close() {
        await close(5 + random.below(20));
      },
      async emptyBin() {
        const bin = random.oneOf([...bins.keys()]);
        for (const product of products)
          for (const batch of batches.get(product) ?? [null]) {
            const quantity = heldIn(bin, product, batch ?? "");
            if (quantity <= 0) continue;
            await rows("begin");
            const id = await insert(
              { product, source: bin, destination: null, quantity, process: "outgoing" },
              null,
            );
            if (batch !== null)
              await rows("insert into ledger.stock_movement_batch values ($1, $2, $3)", [
                id,
                batch,
                quantity,
              ]);
            await rows("commit");
            await record(id);
          }
        // Whoever empties a bin has numbered what was in it, before it is deleted or moved
        for (const id of unnumbered.splice(0)) await number([id]);
        if (random.next() < 0.5) {
          const warehouse = random.oneOf(warehouses);
          await rows("update erp.bin_location set warehouse_id = $2 where id = $1", [bin, warehouse]);
          bins.set(bin, warehouse);
        } else {
          await rows("delete from erp.bin_location where id = $1", [bin]);
          bins.delete(bin);
          bins.set(await newBin(random.oneOf(warehouses)), "");
          for (const row of await rows("select id, warehouse_id from erp.bin_location"))
            bins.set(row.id, row.warehouse_id);
          gone += 1;
        }
      },
    };
    const kinds = [
      ..."move ".repeat(12).trim().split(" "),
      "count",
      "count",
      "count",
      "number",
      "number",
      "close",
      "emptyBin",
    ];
    for (let step = 0; step < 400; step++) await steps[random.oneOf(kinds)]!();
    while (unnumbered.length > 0) await steps.number!();
    await steps.number!();
    assert.ok(gone > 3 && legs.length > 200 && (await rows("select from ledger.closing")).length > 5);
    await assertProof(used.client);

    const newest = Math.max(...sequences.values());
    const moments = [...new Set(legs.map(({ moment }) => moment))];
    const pasts = Array.from({ length: 400 }, (): [sequence: number | null, moment: bigint | null] =>
      random.next() < 0.5
        ? [random.below(newest + 1), null]
        : [null, random.oneOf(moments) - BigInt(random.below(2))],
    );
    await rows("select set_config('service.scopes', 'stocks:read batches:read', false)");
    for (const [sequence, moment] of pasts) {
      const included = legs.filter((leg) =>
        sequence === null ? leg.moment <= moment! : sequences.get(leg.movement)! <= sequence,
      );
      const sum = (of: (leg: Leg) => boolean) =>
        included.filter(of).reduce((total, { quantity }) => total + quantity, 0);
      const product = random.oneOf(products);
      const { place } = random.oneOf(legs);
      const warehouse = random.oneOf(warehouses);
      const [batch] = random.oneOf([...batches.values()]) as [string];
      const [found] = await rows(
        `select ledger.quantity_as_of($1, null, null, $4, m.moment) as everywhere, ledger.quantity_as_of($1, $2, null, $4, m.moment) as place,
           ledger.quantity_as_of($1, null, $3, $4, m.moment) as warehouse, ledger.batch_quantity_as_of($6, null, $4, m.moment) as batch,
           ledger.batch_quantity_as_of($6, $2, $4, m.moment) as batch_in_place
         from (select timestamptz 'epoch' + $5::bigint * interval '1 microsecond' as moment) m`,
        [product, place, warehouse, sequence, moment?.toString() ?? null, batch],
      );
      assert.deepEqual(
        found,
        {
          everywhere: sum((leg) => leg.product === product),
          place: sum((leg) => leg.product === product && leg.place === place),
          warehouse: sum((leg) => leg.product === product && leg.warehouse === warehouse),
          batch: sum((leg) => leg.batch === batch),
          batch_in_place: sum((leg) => leg.batch === batch && leg.place === place),
        },
        `seed ${seed}, ${sequence ?? moment}`,
      );
    }
  });
});

describe("the closing of months", () => {
  const used = useDatabase("template_schema");
  const rows = queryRows(() => used.client);
  const close = async (): Promise<boolean> => (await rows("select ledger.close_next() as closed"))[0].closed;
  const closeAll = async (): Promise<number[]> => {
    while (await close());
    return (await rows("select sequence::int as number from ledger.closing order by sequence")).map(
      ({ number }) => number,
    );
  };

  before(async () => {
    await rows(
      `insert into erp.warehouse (code, name, is_default, is_default_receiving) values ('W', 'W', true, true);
       insert into erp.product (product_number, name) values ('P', 'P')`,
    );
    // The third was imported late
    for (const at of ["2025-01-15", "2025-02-10", "2025-01-20", "2025-03-31T23:59:59Z", null])
      await rows(
        `insert into ledger.stock_movement (product_id, quantity, created_at, source_location_type_technical_name,
           source_special_stock_location_technical_name, destination_location_type_technical_name, destination_warehouse_id)
         select p.id, 3, $1::timestamptz, 'special_stock_location', 'import', 'warehouse', w.id from erp.product p, erp.warehouse w`,
        [at],
      );
  });

  it("waits for numbers, then follows them: one for each month that has ended, in UTC", async () => {
    assert.deepEqual(await closeAll(), []);
    await rows("select ledger.number_movements()");
    assert.deepEqual(await closeAll(), [1, 3, 4]);
    const balances = await rows("select quantity from ledger.closing_balance order by closing_id");
    assert.deepEqual(
      balances.map(({ quantity }) => quantity),
      [3, 9, 12],
    );
    assert.equal(await close(), false);
    await assertProof(used.client);
  });

  const faultsAfter = async (change: string): Promise<string[]> => {
    await rows("begin");
    await rows(change);
    const found = await ledgerDifferences(used.client);
    await rows("rollback");
    return [...new Set(found.map(({ figure }) => figure!))].sort();
  };

  it("is compared with the ledger by the proof: balances and bounds", async () => {
    assert.deepEqual(
      await faultsAfter("update ledger.closing_balance set quantity = 10 where quantity = 9"),
      ["closing_balance.quantity"],
    );
    assert.deepEqual(await faultsAfter("delete from ledger.closing_balance where quantity = 9"), [
      "closing_balance.quantity",
    ]);
    for (const bound of [
      "least_moment_after = 'infinity'",
      "least_id_after = 'ffffffff-ffff-ffff-ffff-ffffffffffff'",
      "greatest_moment = '-infinity'",
      "greatest_id = '00000000-0000-0000-0000-000000000000'",
    ])
      assert.deepEqual(await faultsAfter(`update ledger.closing set ${bound}`), ["closing.bounds"], bound);
    assert.deepEqual(await faultsAfter("select"), []);
  });

  it("is not waited for by bookings, and does not wait for them", async () => {
    const other = new pg.Client({ connectionString: used.database.ownerUrl });
    await other.connect();
    try {
      await other.query("set lock_timeout = '2s'");
      await rows("delete from ledger.closing; set lock_timeout = '2s'");
      const book = "update erp.product set physical_stock = physical_stock where product_number = 'P'";
      const lock = "select from erp.product where product_number = 'P' for no key update";
      await other.query(`begin; ${lock}`);
      await rows("begin");
      assert.equal(await close(), true);
      await other.query(`${book}; commit; begin; ${lock}; ${book}; commit`);
      await rows("commit; reset lock_timeout");
    } finally {
      await other.end();
    }
  });

  it("notes when it writes, so that readers of an older snapshot know what is settled", async () => {
    await until(async () => {
      await close();
      await rows("begin isolation level repeatable read");
      const [{ known }] = (await rows(
        "select ledger.settled_until(pg_current_snapshot()) = (select max(moment) from ledger.writing_since) as known",
      )) as [any];
      await rows("commit");
      return known;
    });
    // Others read what has been committed since, and need no note
    const [{ settled }] = (await rows(
      "select ledger.settled_until(pg_current_snapshot()) = now() as settled",
    )) as [any];
    assert.ok(settled);
  });

  it("is done by two workers at once without a fault", async () => {
    const other = new pg.Client({ connectionString: used.database.ownerUrl });
    await other.connect();
    try {
      await rows("delete from ledger.closing");
      await other.query("begin; select ledger.close_next()");
      assert.equal(await close(), false);
      await other.query("commit");
      assert.deepEqual(await closeAll(), [1, 3, 4]);
    } finally {
      await other.end();
    }
  });

  it("changes nothing later, and only its roles read it", async () => {
    for (const table of ["closing_balance", "closing_batch_balance", "former_place"]) {
      const [rights] = await rows(
        `select bool_or(has_table_privilege(r, 'ledger.' || $1, 'update') or has_table_privilege(r, 'ledger.' || $1, 'delete')) as changed,
           has_any_column_privilege('service_api', 'ledger.' || $1, 'select') as read
         from unnest(array['service_api', 'service_writer', 'service_ledger', 'service_recorder', 'service_worker']::name[]) r`,
        [table],
      );
      assert.deepEqual(rights, { changed: false, read: false });
    }
  });
});
