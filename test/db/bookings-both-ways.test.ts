import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import fc from "fast-check";
import { queryRows, useDatabase } from "../lib/database.ts";
import { assertProof } from "../lib/proof.ts";
import { seed } from "../lib/seed.ts";
import { insertBookings } from "./insert-bookings.ts";

// A booking writes everything itself; for inserts by hand, triggers do. Random bookings are done in
// both ways, each undone again, and must leave the same rows and the same events behind.

type Place = [type: string, key: string];
type Result = { events: [topic: string, entity: string][] | null };

/** What the database must hold afterwards, but for ids that are drawn and moments. */
const state = `
  with place as (select id, product_id || ' ' || place as name from ledger.stock)
  select jsonb_build_object(
    'movements', (select jsonb_agg(to_jsonb(m) - '{id,transaction_id,created_at,microseconds,booking_id}'::text[] order by m.id)
      from ledger.stock_movement m where m.id > $1::uuid),
    'batches', (select jsonb_agg(jsonb_build_array(b.batch_id, b.quantity, n.nth) order by n.nth, b.batch_id)
      from ledger.stock_movement_batch b
      join (select id, row_number() over (order by id) as nth from ledger.stock_movement where id > $1) n
        on n.id = b.stock_movement_id),
    'stock', (select jsonb_agg(to_jsonb(s) - '{id,created_at,updated_at}'::text[] order by s.product_id, s.place)
      from ledger.stock s where s.product_id = any ($2)),
    'batch stock', (select jsonb_agg(jsonb_build_array(p.name, b.batch_id, b.quantity) order by p.name, b.batch_id)
      from ledger.batch_stock b join place p on p.id = b.stock_id),
    'warehouse stock', (select jsonb_agg(to_jsonb(s) - '{id,created_at,updated_at}'::text[] order by s.product_id, s.warehouse_id)
      from ledger.warehouse_stock s where s.product_id = any ($2)),
    'products', (select jsonb_agg(to_jsonb(p) - '{updated_at}'::text[] order by p.id) from erp.product p),
    'lots', (select jsonb_agg(to_jsonb(b) - '{updated_at}'::text[] order by b.id) from erp.batch b),
    'settings', (select jsonb_agg(to_jsonb(c) - '{updated_at}'::text[] order by c.id) from erp.product_warehouse_configuration c),
    'settings of places', (select jsonb_agg(to_jsonb(c) - '{updated_at}'::text[] order by c.id)
      from erp.product_stock_location_configuration c),
    'counts', (select jsonb_agg(jsonb_build_array(p.name, c.batch_id, c.quantity, c.difference) order by p.name, c.id)
      from ledger.stock_count c join place p on p.id = c.stock_id where c.id > $4),
    'events', (select jsonb_agg(jsonb_build_array(o.topic, o.entity_id, o.changed_fields, o.cause,
        case when o.topic in ('stock_movement.created', 'stock.changed') then o.data - 'id' else o.data end
          - '{createdAt,updatedAt}'::text[]) order by o.position)
      from events.outbox o where o.position > $3)
  ) as state`;

describe("bookings, directly and by triggers", () => {
  const used = useDatabase("template_demo");
  const rows = queryRows(() => used.client);
  let products: { id: string; batches: string[] }[];
  let places: Place[];

  before(async () => {
    products = await rows(
      `(select p.id, '{}'::uuid[] as batches from erp.product p where not is_batch_managed
          and not exists (select from erp.product v where v.parent_id = p.id)
          order by exists (select from ledger.stock s where s.product_id = p.id and s.place = 'stock_correction'), p.id limit 4)
       union all
       (select p.id, (array_agg(b.id order by b.id))[:2] from erp.product p join erp.batch b on b.product_id = p.id
        where p.is_batch_managed group by p.id order by p.id limit 2)`,
    );
    // One with settings in a bin, too
    await rows(
      `insert into erp.product_stock_location_configuration (product_id, bin_location_id)
       select $1, (select id from erp.bin_location order by id limit 1) on conflict do nothing`,
      [products[0]!.id],
    );
    const found = await rows(
      `(select 'warehouse' as type, id::text as key from erp.warehouse order by id)
       union all (select 'bin_location', id::text from erp.bin_location order by id limit 3)
       union all (select 'order', id::text from erp.sales_order order by id limit 2)
       union all (select 'goods_receipt', id::text from erp.goods_receipt order by id limit 1)
       union all select 'special_stock_location', n from unnest('{stock_correction,unknown}'::text[]) n`,
    );
    // What is not sellable counts as held, by its bin or its batch; and some is kept back
    await rows(
      `update erp.bin_location set stock_state = 'damaged' where id = (select id from erp.bin_location order by id offset 1 limit 1)`,
    );
    await rows("update erp.batch set stock_state = 'quality_control' where id = $1", [
      products.at(-1)!.batches[0],
    ]);
    await rows("update erp.batch set best_before_date = '2020-01-01', production_date = null where id = $1", [
      products.at(-2)!.batches[1],
    ]);
    await rows(
      `insert into erp.product_warehouse_configuration as c (product_id, warehouse_id, safety_stock)
       select p, w.id, 7 from unnest($1::uuid[]) p, erp.warehouse w where w.is_default
       on conflict (product_id, warehouse_id) do update set safety_stock = 7`,
      [products.map(({ id }) => id)],
    );
    places = found.map(({ type, key }) => [type, key]);
    // Calls that are run together need rows of stock; some products have none in special places
    for (const [special, count] of [
      ["stock_correction", 2],
      ["unknown", 3],
    ] as const)
      await post(
        products.slice(0, count).flatMap(({ id }) =>
          places.slice(0, 5).map((destination) => ({
            product_id: id,
            quantity: 20,
            batch_id: null,
            source: ["special_stock_location", special],
            destination,
          })),
        ),
      );
  });

  const draft = fc.record({
    product: fc.nat(5),
    batch: fc.nat(2),
    quantity: fc.integer({ min: 1, max: 30 }),
    from: fc.nat(20),
    to: fc.nat(20),
  });
  type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;

  /** A draft in terms of the database; what comes from a special place is frequent, so that there is stock. */
  const asRow = ({ product, batch, quantity, from, to }: ValueOf<typeof draft>) => {
    const { id, batches } = products[product % products.length]!;
    const source = from < 10 ? places.at(-1)! : places[from % places.length]!;
    let destination = places[to % places.length]!;
    if (destination === source) destination = places[(to + 1) % places.length]!;
    // Batches may be named or left out, rightly or wrongly
    const batch_id = batches[batch] ?? null;
    return { product_id: id, quantity, batch_id, source, destination };
  };

  const post = (drafts: ReturnType<typeof asRow>[]) =>
    rows(
      `select ledger.post(array(
         select row ('{lines,0,quantity}', d.product_id, d.quantity, d.batch_id, d.source ->> 0, d.source ->> 1,
           d.destination ->> 0, d.destination ->> 1, 'api_relocation')::ledger.draft
         from jsonb_to_recordset($1) d (product_id uuid, quantity integer, batch_id uuid, source jsonb, destination jsonb)),
         'a note')`,
      [JSON.stringify(drafts)],
    );
  /** What `stockSet` does, where stock lies that is in no batch. */
  const count = (product: string, quantity: number) =>
    rows(
      `select ledger.set_stock(array(
         select row (s.product_id, s.warehouse_id, s.bin_location_id, null, null, $2, null, null, null, null, null)::ledger.line
         from ledger.stock s where s.product_id = $1 and s.quantity not in (0, $2) and
           s.location_type_technical_name in ('warehouse', 'bin_location') order by s.place limit 2), 'counted')`,
      [product, quantity],
    );
  /** Does something from the present state on; answers what it leaves behind, and undoes it unless it is to stay. */
  const resultOf = async (work: () => Promise<unknown>, stays = false) => {
    const [from] = await rows(
      `select coalesce((select max(id::text) from ledger.stock_movement), '00000000-0000-0000-0000-000000000000') as movement,
         coalesce((select max(position) from events.outbox), 0) as position, coalesce((select max(id) from ledger.stock_count), 0) as count`,
    );
    await rows("savepoint before");
    await work();
    await rows("set constraints all immediate");
    await rows("set constraints all deferred");
    const [row] = await rows(state, [from.movement, products.map(({ id }) => id), from.position, from.count]);
    // What stays has to be equal to what has been proved
    if (!stays) {
      await assertProof(used.client);
      await rows("rollback to before");
    }
    return row.state;
  };

  /** @returns whether it was booked, and not refused */
  const bothWays = async (book: () => Promise<unknown>): Promise<boolean> => {
    let directly;
    try {
      directly = await resultOf(book);
    } catch (error) {
      assert.equal((error as { code?: string }).code, "UE001", String(error));
      await rows("rollback to before");
      return false;
    }
    if (directly.movements === null) return false;
    const byTriggers = await resultOf(
      () => insertBookings(rows, directly.movements, directly.batches ?? []),
      true,
    );
    const twice = await toldTwice(byTriggers);
    assert.deepEqual(without(byTriggers, twice), without(directly, twice));
    return true;
  };

  /** Products that triggers tell of a second time: when they insert movements, they don't know yet whether a batch can be sold. */
  const toldTwice = async ({ events }: Result): Promise<Set<string>> => {
    const told = (events ?? []).filter(([topic]) => topic === "product.updated").map(([, entity]) => entity);
    const again = new Set(told.filter((entity, nth) => told.indexOf(entity) < nth));
    const held = await rows("select product_id from erp.batch where is_held or is_expired");
    for (const entity of again) assert.ok(held.some(({ product_id }) => product_id === entity));
    return again;
  };
  const without = (result: Result, told: ReadonlySet<string>) => ({
    ...result,
    events: result.events?.filter(([topic, entity]) => topic !== "product.updated" || !told.has(entity)),
  });
  /** Puts a batch on hold, or releases it; lets a warehouse stop or start to sell; or turns the state of a bin. */
  const turn = (nth: number) =>
    nth < 4
      ? rows(
          `update erp.batch set is_held = not is_held, held_at = case when not is_held then now() end where id = $1`,
          [products.flatMap(({ batches }) => batches)[nth]],
        )
      : nth > 5
        ? rows(
            `update erp.bin_location set stock_state = case stock_state when 'sellable' then 'damaged' else 'sellable' end where id = $1`,
            [places[nth - 3]![1]],
          )
        : rows(
            `update erp.warehouse set is_stock_available_for_sale = not is_stock_available_for_sale where id = $1`,
            [places[nth - 4]![1]],
          );

  it(`leave the same behind, seed ${seed}`, async () => {
    let booked = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            { weight: 6, arbitrary: fc.array(draft, { minLength: 1, maxLength: 6 }) },
            { weight: 3, arbitrary: fc.record({ turned: fc.nat(8) }) },
            fc.nat(3),
          ),
          { minLength: 6, maxLength: 12 },
        ),
        async (calls) => {
          await rows("begin");
          try {
            await rows("select set_config('service.request_id', 'both ways', true)");
            for (const call of calls) {
              if (typeof call === "object" && "turned" in call) {
                await turn(call.turned);
                await assertProof(used.client);
                continue;
              }
              const book =
                typeof call === "number"
                  ? () => count(products[call]!.id, 40 + call)
                  : () => post(call.map(asRow));
              if (await bothWays(book)) booked++;
            }
          } finally {
            await rows("rollback");
          }
        },
      ),
      { seed, numRuns: Number(process.env.BOOKINGS ?? 6) },
    );
    assert.ok(booked >= 5, `${booked} were booked`);
  });

  const key = fc.option(fc.constantFrom("one", "two", "three"), { freq: 2 });
  const call = fc.record({
    kind: fc.constantFrom("adjust", "adjust", "set", "transfer"),
    product: fc.nat(5),
    place: fc.nat(4),
    other: fc.nat(4),
    delta: fc.integer({ min: -40, max: 40 }),
    key,
  });

  /** A call of one line, as `mutation.run_together` takes it. */
  const asCall = ({ kind, product, place, other, delta, key }: ValueOf<typeof call>, nth: number) => {
    const [here, there] = [place, other].map((n) => ({ [`${places[n]![0]}_id`]: places[n]![1] }));
    const quantity = Math.abs(delta);
    const more = {
      adjust: { place: here, delta },
      set: { place: here, quantity },
      transfer: { source: here, destination: there, quantity },
    }[kind];
    const line = { product_id: products[product]!.id, ...more };
    return {
      version: "api_unstable",
      operation: `stock_${kind}`,
      input: { lines: [line], comment: nth % 3 === 0 ? "counted" : null },
      key,
      credential_id: "018fd2d0-081f-73dc-8edd-7c7360cdaaf2",
      request_id: `request ${nth}`,
      scopes: "stocks:write stocks:read",
    };
  };
  type Call = ReturnType<typeof asCall>;
  type Answer = {
    payload: { stock_movements: string[]; stocks: string[] } | null;
    userErrors: { code: string }[];
  };

  const runAlone = async (call: Call): Promise<Answer> => {
    const [row] = await rows(
      `select set_config('service.scopes', $6, true), set_config('service.credential_id', $5, true),
         set_config('service.request_id', $7, true), mutation.run($1, $2, $3, $4, false) as answer`,
      [call.version, call.operation, call.input, call.key, call.credential_id, call.scopes, call.request_id],
    );
    return row.answer;
  };
  const runTogether = async (calls: Call[]): Promise<(Answer | null)[]> =>
    (await rows("select mutation.run_together($1) as answers", [JSON.stringify(calls)]))[0].answers;
  /** What can be compared of answers: movements have ids of their own, and so has stock that is new. */
  const gist = (answers: Answer[], known: ReadonlySet<string>) =>
    answers.map(({ payload, userErrors }) => [
      payload?.stocks.map((id) => (known.has(id) ? id : "new")),
      payload?.stock_movements.length,
      userErrors.map(({ code }) => code),
      // Which call a repetition repeats
      answers.findIndex((other) => other.payload?.stock_movements[0] === payload?.stock_movements[0]),
    ]);
  /** Runs of the products have their order, each by itself. */
  const byEntity = (result: Result) => ({
    ...result,
    movements: null,
    events: result.events?.toSorted(([, one], [, other]) => (one < other ? -1 : Number(one > other))),
  });

  it(`leave the same behind when calls are run together, seed ${seed}`, async () => {
    let together = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 12 }), async (list) => {
        const calls = list.map(asCall);
        await rows("begin");
        try {
          const known = new Set((await rows("select id from ledger.stock")).map(({ id }) => id));
          let alone: Answer[] = [];
          const expected = await resultOf(async () => {
            alone = [];
            for (const one of calls) alone.push(await runAlone(one));
          });
          const answers: Answer[] = [];
          const result = await resultOf(async () => {
            const first = await runTogether(calls);
            together += first.filter((answer) => answer !== null).length;
            for (const [nth, answer] of first.entries())
              answers[nth] = answer ?? (await runAlone(calls[nth]!));
          });
          assert.deepEqual(byEntity(result), byEntity(expected));
          assert.deepEqual(gist(answers, known), gist(alone, known));
        } finally {
          await rows("rollback");
        }
      }),
      { seed, numRuns: Number(process.env.BOOKINGS ?? 6) },
    );
    assert.ok(together >= 4, `${together} were run together`);
  });
});
