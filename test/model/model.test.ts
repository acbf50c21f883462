import { describe, it } from "node:test";
import pg from "pg";
import { openTestDatabase, queryRows } from "../lib/database.ts";
import { assertProof } from "../lib/proof.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { Business } from "./business.ts";
import { compareCosts, compareReports, compareValues } from "./compare-values.ts";
import { compareLedger, compareStock, compareTraces } from "./compare.ts";

// Random business of a merchant, against a model that replays its record in plain arithmetic: stock at moments of both
// clocks, values by each method, traces both ways. MODEL_SEEDS says how many merchants, MODEL_STEPS how long each trades.
const seeds = Number(process.env.MODEL_SEEDS ?? 2);
const steps = Number(process.env.MODEL_STEPS ?? 150);
const sixtyDays = 60 * 86_400_000;

/** How many questions about the past are asked of each merchant. */
const questions = Number(process.env.MODEL_QUESTIONS ?? 1000);

describe("random business", () => {
  for (let n = 0; n < seeds; n++)
    it(`is as in the model, seed ${seed + n}`, async () => {
      const database = await openTestDatabase("template_schema");
      const client = new pg.Client({ connectionString: database.ownerUrl });
      await client.connect();
      const rows = queryRows(() => client);
      const random = new Random(seed + n);
      const business = new Business(rows, random, BigInt(Date.now() - sixtyDays) * 1000n);
      try {
        await business.open();
        for (let step = 0; step < steps; step++) await business.step();
        await business.number();
        await assertProof(client);
        await rows("select set_config('service.scopes', 'stocks:read batches:read valuation:read', false)");
        await compareLedger(business, rows);
        await compareStock(business, rows, random, questions);
        await compareReports(business, rows);
        await compareValues(business, rows, random, 4);
        await compareCosts(business, rows);
        await compareTraces(business, rows);
      } catch (error) {
        (error as Error).message += ` (SEED=${seed + n}, step ${business.log.length})`;
        throw error;
      } finally {
        await client.end();
        await database.close();
      }
    });
});
