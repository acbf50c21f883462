import { after, test } from "node:test";
import { seed } from "../lib/seed.ts";
import { compare, compareCosts } from "./month/compare.ts";
import { closeMonth, happenings } from "./month/events.ts";
import { Merchant } from "./month/merchant.ts";
import { Story } from "./month/story.ts";

// A month of a made-up merchant, by calls of the API alone. At each evening, what the service shows is what the merchant wrote down
// MONTHS says how many months are played, each with its own seed.
const days = 30;
const months = Number(process.env.MONTHS ?? 1);
const merchants: Merchant[] = [];
after(() => Promise.all(merchants.map((merchant) => merchant.close())));

for (let n = seed; n < seed + months; n++)
  test(`a month of a merchant leaves every figure as in the merchant's own accounts (seed ${n})`, async () => {
    const merchant = await Merchant.open(n);
    merchants.push(merchant);
    const story = new Story(merchant);
    await merchant.beginDay(days);
    await story.open();
    await merchant.endDay();
    await compare(story, "after the opening");
    for (let daysAgo = days - 1; daysAgo >= 1; daysAgo--) {
      await merchant.beginDay(daysAgo);
      await story.trade(daysAgo);
      await happenings[daysAgo]?.(story, daysAgo);
      await merchant.endDay();
      await compare(story, `${daysAgo} days ago`);
    }
    await compareCosts(story);
    await merchant.beginDay(0);
    await closeMonth(story);
  });
