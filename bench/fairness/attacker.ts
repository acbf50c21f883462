// A process of arena.ts: plays one attack until it is told to end, and then tells what it was answered.
import type { Target } from "./attack.ts";
import { Tally } from "./attack.ts";
import { attacks } from "./attacks/all.ts";

const { name, target } = JSON.parse(process.argv[2]!) as { name: string; target: Target };
const tally = new Tally();
let isOver = false;
process.on("message", () => (isOver = true));
process.on("disconnect", () => process.exit());
// Ctrl-C reaches all processes of the terminal: the one that measures ends the others in its own order
process.on("SIGINT", () => {});
process.send!("begun");
await attacks.find((attack) => attack.name === name)!.run({ ...target, tally, isOver: () => isOver });
process.send!(tally.counts, () => process.exit());
