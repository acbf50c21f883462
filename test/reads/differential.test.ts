import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { parse, validate } from "postgraphile/graphql";
import { seed as firstSeed } from "../lib/seed.ts";
import { makeRandom } from "../plugins/random-operations.ts";
import type { Samples } from "./random-reads.ts";
import { randomRead } from "./random-reads.ts";
import { takeSamples } from "./samples.ts";
import { openTwoExecutors, withoutOpen } from "./two-executors.ts";
import type { ReadAnswer, ReadRequest, TwoExecutors } from "./two-executors.ts";

// Has a process of its own: it takes long.

/** How many operations are compared for unstable, and half as many for the frozen version. */
const wanted = Number(process.env.RANDOM_READS ?? 90);

const locales = ["en-GB", "de-DE", "en-GB", "fr-FR", "nonsense"];

/** Another caller for each seed: with all scopes, or some; sometimes with fewer for row-level security. */
function callerOf(seed: number, { allScopes }: TwoExecutors): Pick<ReadRequest, "rowScopes" | "locale"> {
  const random = makeRandom(seed * 7 + 1);
  const locale = locales[random(locales.length)]!;
  if (random(3) > 0) return { locale };
  const oneIn = 2 + random(4);
  return { locale, rowScopes: allScopes.filter(() => random(oneIn) > 0) };
}

/** An error as both executors tell it: where aggregates read too much, the one statement only knows the root field. */
const withKnownPlace = (error: ReadAnswer["errors"][number]) =>
  /^(There are more|More) than \d+ (groups|entries)/.test(error.message)
    ? { ...error, path: (error.path as string[]).slice(0, 1), locations: null }
    : error;

for (const schemaName of ["api_unstable", "api_2026_06_unstable"]) {
  const count = schemaName === "api_unstable" ? wanted : Math.ceil(wanted / 2);
  describe(`reads of ${schemaName}, by one statement and by Grafast`, () => {
    let executors: TwoExecutors;
    let samples: Samples;
    before(async () => {
      executors = await openTwoExecutors(schemaName);
      samples = await takeSamples(executors);
    });
    after(() => executors?.close());

    it(`have the same answers, ${count} times`, async (test) => {
      const tally = { valid: 0, invalid: 0, withErrors: 0, bySql: 0, characters: 0 };
      for (let seed = firstSeed; seed < firstSeed + count; seed++) {
        const read = randomRead(executors.schema, samples, seed);
        if (validate(executors.schema, parse(read.source)).length > 0) {
          tally.invalid++;
          continue;
        }
        const request = { ...read, ...callerOf(seed, executors) };
        const byGrafast = await executors.byGrafast(request);
        const bySql = await executors.bySql(request);
        const where = `seed ${seed}: ${JSON.stringify(request)}`;
        assert.deepEqual(bySql.errors.map(withKnownPlace), byGrafast.errors.map(withKnownPlace), where);
        assert.equal(withoutOpen(bySql.text), withoutOpen(byGrafast.text), where);
        tally.valid++;
        if (byGrafast.errors.length > 0) tally.withErrors++;
        else if (bySql.isBySql) tally.bySql++;
        else if (process.env.SHOW_OTHERS) console.log(where);
        tally.characters += byGrafast.text?.length ?? 0;
      }
      const share = tally.bySql / (tally.valid - tally.withErrors);
      test.diagnostic(`${JSON.stringify(tally)}; by one statement: ${(share * 100).toFixed(1)} %`);
      assert.ok(tally.valid > count * 0.8, "most operations are valid");
      assert.ok(share > 0.9, "most operations are covered");
    });
  });
}
