import { describe, it } from "node:test";
import pg from "pg";
import { openTestDatabase, queryRows } from "../lib/database.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { assertProof } from "../lib/proof.ts";
import { Business } from "./business.ts";

const seeds = Number(process.env.MODEL_SEEDS ?? 2);

describe("random business", () => {
  for (let n = 0; n < seeds; n++)
    it(`is as in the model, seed ${seed + n}`, async () => {
      const database = await openTestDatabase("template_schema");
      const client = new pg.Client({ connectionString: database.ownerUrl });
      await client.connect();
      try {
        const business = new Business(queryRows(() => client), new Random(seed + n), BigInt(Date.now() - 60 * 86_400_000) * 1000n);
        await business.open();
        try {
          for (let step = 0; step < 150; step++) await business.step();
        } catch (error) {
          console.log(business.log.join(" "));
          throw error;
        }
        console.log(business.refused, business.record.movements.length, business.log.filter((x, n, l) => l[n+1] === "refused").join(" "));
        await assertProof(client);
      } finally {
        await client.end();
        await database.close();
      }
    });
});
