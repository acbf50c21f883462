import { after, test } from "node:test";
import { assertProof } from "../lib/proof.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { Dealings } from "./dealings.ts";

// What lies between orders, promises, sourcing, returns, counts and states of stock: played at random over HTTP with two
// processes, and compared with a plain count after each step
const steps = Number(process.env.DEALING_STEPS ?? 120);
const seeds = Number(process.env.DEALING_SEEDS ?? 1);
const shops: ShippingShop[] = [];
after(() => Promise.all(shops.map((shop) => shop.close())));

for (let n = seed; n < seed + seeds; n++)
  test(`${steps} dealings leave every figure right (seed ${n})`, async () => {
    const shop = await openShippingShop();
    shops.push(shop);
    const dealings = new Dealings(shop, [shop, await shop.another()], new Random(n));
    await dealings.open();
    for (let step = 1; step <= steps; step++) {
      await dealings.act();
      if (step % 10 > 0) continue;
      await assertProof(shop.owner).catch((error: Error) => {
        throw new Error(`${error.message}\n${dealings.history()}`, { cause: error });
      });
    }
  });
