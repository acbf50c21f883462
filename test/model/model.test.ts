import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { openTestDatabase, queryRows } from "../lib/database.ts";
import { assertProof } from "../lib/proof.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { Business } from "./business.ts";
import type { Rows } from "./merchant.ts";
import { stockAsOf, valueOf } from "./model.ts";
import { isCounted } from "./record.ts";

// Random business of a merchant, against a model that replays its record in plain arithmetic: stock at moments of both
// clocks, values by each method, traces both ways. MODEL_SEEDS says how many merchants, MODEL_STEPS how long each trades.
const seeds = Number(process.env.MODEL_SEEDS ?? 2);
const steps = Number(process.env.MODEL_STEPS ?? 150);
const sixtyDays = 60 * 86_400_000;

const methods = ["moving_average", "period_average", "fifo"] as const;

/** Fails with the first difference. */
function assertSame(found: Map<string, unknown>, expected: Map<string, unknown>, what: string): void {
  for (const key of new Set([...found.keys(), ...expected.keys()]))
    assert.equal(found.get(key), expected.get(key), `${what}: ${key}`);
}

/** The books as they stand are what the model has, and values add up. */
async function compareLedger({ record, sequence }: Business, rows: Rows): Promise<void> {
  const lying = await rows(
    `select s.product_id as product, s.location_type_technical_name || ':' || s.place as place, s.quantity
     from ledger.stock s where s.quantity <> 0`,
  );
  const expected = new Map<string, number>();
  for (const [key, units] of stockAsOf(record, { sequence })) {
    const [product, place] = key.split(" ") as [string, string];
    if (record.deletedPlaces.has(place)) continue;
    const name = `${product} ${place}`;
    expected.set(name, (expected.get(name) ?? 0) + units);
  }
  assertSame(new Map(lying.map((row) => [`${row.product} ${row.place}`, row.quantity])), expected, "stock");
  for (const product of new Set(record.movements.map((movement) => movement.product))) {
    if (record.deletedProducts.has(product)) continue;
    const units = [...expected]
      .filter(([key]) => key.startsWith(product) && isCounted(key.split(" ")[1]!))
      .reduce((sum, [, count]) => sum + count, 0);
    for (const method of methods) {
      const { value, costs, ...rest } = valueOf(record, product, method, sequence);
      assert.equal(rest.units, units, `units by ${method}`);
      const sum = [...costs.values()].reduce((all, cost) => all + cost, 0n);
      assert.equal(value, sum, `value by ${method}`);
      if (units === 0) assert.equal(value, 0n, `value of nothing by ${method}`);
    }
  }
}

describe("random business", () => {
  for (let n = 0; n < seeds; n++)
    it(`is as in the model, seed ${seed + n}`, async () => {
      const database = await openTestDatabase("template_schema");
      const client = new pg.Client({ connectionString: database.ownerUrl });
      await client.connect();
      const rows = queryRows(() => client);
      const business = new Business(rows, new Random(seed + n), BigInt(Date.now() - sixtyDays) * 1000n);
      try {
        await business.open();
        for (let step = 0; step < steps; step++) await business.step();
        await business.number();
        await assertProof(client);
        await compareLedger(business, rows);
      } catch (error) {
        (error as Error).message += ` (SEED=${seed + n}: ${business.log.join(" ")})`;
        throw error;
      } finally {
        await client.end();
        await database.close();
      }
    });
});
