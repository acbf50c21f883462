import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { assertProof } from "../lib/proof.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { Dealings } from "./dealings.ts";

// What lies between orders, promises, sourcing, returns, counts and states of stock: played at random over HTTP, with two
// processes, and compared with a plain count after each step
const steps = Number(process.env.DEALINGS ?? 120);
const seeds = Number(process.env.SEEDS ?? 1);

for (let n = 0; n < seeds; n++)
  test(`${steps} dealings leave every figure right (seed ${seed + n})`, async () => {
    const shop = await openShippingShop();
    for (const file of (process.env.EXTRA ?? "").split(" ").filter(Boolean))
      await shop.owner.query(readFileSync(file, "utf8"));
    try {
      const dealings = new Dealings(shop, [shop, await shop.another()], new Random(seed + n));
      await dealings.open();
      for (let step = 1; step <= steps; step++) {
        await dealings.act();
        if (step % 10 === 0)
          await assertProof(shop.owner).catch((error: Error) => {
            throw new Error(`${error.message}\n${dealings.history()}`, { cause: error });
          });
      }
      console.log(
        [...dealings.done]
          .sort()
          .map((pair) => pair.join(" "))
          .join(", "),
      );
    } finally {
      await shop.close();
    }
  });
