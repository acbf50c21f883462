// A process of arena.ts: runs one attack until it is asked to end, and then reports the responses.
import type { Target } from "./attack.ts";
import { Tally } from "./attack.ts";
import { attacks } from "./attacks/all.ts";
import { busyMerchant } from "./attacks/busy-merchant.ts";

const { name, target } = JSON.parse(process.argv[2]!) as { name: string; target: Target };
const tally = new Tally();
let isOver = false;
process.on("message", () => (isOver = true));
process.on("disconnect", () => process.exit());
// The terminal sends Ctrl-C to all processes: the measuring process ends the others in its own order
process.on("SIGINT", () => {});
const attack = [...attacks, busyMerchant].find((each) => each.name === name)!;
const play = { ...target, tally, isOver: () => isOver };
await attack.prepare?.(play);
process.send!("begun");
await attack.run(play);
process.send!(tally.counts, () => process.exit());
