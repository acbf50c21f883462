// One client must not slow down others. Each attack of bench/fairness is played briefly; `npm run bench -- --fairness`
// plays them longer.
//
//     FAIRNESS_SECONDS=10 FAIRNESS_ONLY='filters,payload queries' npm run test:fairness
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { TestContext } from "node:test";
import { Arena } from "../../bench/fairness/arena.ts";
import type { Attack } from "../../bench/fairness/attack.ts";
import { attacks } from "../../bench/fairness/attacks/all.ts";
import { violatedBounds, outcomeLine } from "../../bench/fairness/bounds.ts";
import type { ClientResults } from "../../bench/fairness/normal-clients.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";

const seconds = Math.min(Number(process.env.FAIRNESS_SECONDS ?? 2), 600);
/** How often an attack is repeated that was noticed. */
const maxRepeated = 2;
const only = process.env.FAIRNESS_ONLY?.split(",");
const unknown = only?.filter((wanted) => !attacks.some(({ name }) => name === wanted)) ?? [];
assert.deepEqual(unknown, [], "FAIRNESS_ONLY names attacks that don't exist.");

describe("a client beside one that wants everything", () => {
  let database: TestDatabase;
  let arena: Arena;
  let quiet: ClientResults;

  before(async () => {
    database = await openTestDatabase("template_demo");
    arena = await Arena.open({ database, environment: { LOG_LEVEL: "error" } });
    quiet = await arena.measureBaseline(seconds);
  });
  after(async () => {
    await arena?.close();
    await database?.close();
  });

  /** What an attack breaks, by the noisiest of the quiet times. */
  const play = async (attack: Attack, context: TestContext): Promise<string[]> => {
    const outcome = await arena.measureDuring(attack, seconds);
    context.diagnostic(outcomeLine(quiet, outcome));
    return violatedBounds(quiet, outcome);
  };

  for (const attack of attacks.filter(({ name }) => only?.includes(name) ?? true))
    it(`doesn't notice ${attack.what}`, async (context) => {
      let broken = await play(attack, context);
      for (let repeated = 0; broken.length > 0 && repeated < maxRepeated; repeated++) {
        const again = await arena.measureBaseline(seconds);
        if (again.p99 > quiet.p99) quiet = again;
        broken = await play(attack, context);
      }
      assert.deepEqual(broken, []);
    });
});
