import { say } from "../src/commands/terminal.ts";
import type { Cleanup } from "./cleanup.ts";
import { findServer } from "./data/server.ts";
import { Bench, others } from "./merchants/bench.ts";
import { ConnectionCounter } from "./merchants/connections.ts";
import { openMerchants } from "./merchants/databases.ts";
import type { BenchOptions } from "./options.ts";
import { describeMachine } from "./report/machine.ts";
import { besideBounds, merchantFiles } from "./report/merchants.ts";
import { writeResults } from "./report/write.ts";

/** Milliseconds after which no merchant holds a connection, and all use counts are written (src/auth/usage.ts). */
const untilIdleMs = 60_000;

/**
 * Measures one process with many merchants.
 *
 * @returns whether all responses were correct, and the busy merchant didn't affect others
 */
export async function merchants(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  const made = await openMerchants(options.merchants, { keep: options.keep, cleanup, say });
  const counter = await ConnectionCounter.start(made.adminUrl);
  cleanup.add(() => counter.stop());
  const bench = new Bench(made, counter, cleanup);
  const first = await bench.start();
  const tokens = await bench.tokens(first);
  await first.stop();

  const visited = await bench.start();
  await bench.build(visited, tokens.all[0]!);
  await bench.visited();
  const openedLater = await bench.open(visited, tokens.all.slice(1));
  await visited.stop();

  const child = await bench.start();
  const built = await bench.build(child, tokens.all[0]!);
  const one = await bench.resources(child, "the first one");
  const opened = await bench.open(child, tokens.all.slice(1));
  const allOpen = await bench.resources(child, "all were opened");
  const steady = await bench.steady(child, tokens.all, options.seconds / 2);
  const afterSteady = await bench.resources(child, "requests of all");
  const counted = await bench.settle(child, untilIdleMs);
  const resting = await bench.rest(child);
  const afterRest = await bench.resources(child, "a pause");
  const beside = await bench.besideBusy(child, tokens, options.seconds / 2);
  const afterBusy = await bench.resources(child, "one was busy");
  await child.stop();

  const { version } = await findServer(made.adminUrl);
  const files = merchantFiles({
    ...{
      made: { ...made, count: made.all.length },
      token: tokens.times,
      built,
      opened,
      openedLater,
      steady,
      counted,
      resting,
      beside,
    },
    resources: [one, allOpen, afterSteady, afterRest, afterBusy],
    ...{ machine: describeMachine(version), options, others },
  });
  say(`Written: ${(await writeResults(files)).join(", ")}`);
  return steady.failures + opened.failures + openedLater.failures === 0 && besideBounds(beside).length === 0;
}
