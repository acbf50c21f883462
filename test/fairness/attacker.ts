// A process of fairness.ts: plays one attack until it is told to end.
import { attacks } from "./attacks.ts";

const [name, url, token, poor] = process.argv.slice(2) as [string, string, string, string];
let isOver = false;
process.on("SIGTERM", () => (isOver = true));
// Should nobody tell it
setTimeout(() => (isOver = true), 120_000).unref();
await attacks.find((attack) => attack.name === name)!.run({ url, token, poor }, () => isOver);
process.exit(0);
