/**
 * Runs what `npm test` does in seconds with random data, for longer, and with other data each time. The numbers can be
 * set, see the files.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";

const from = String(Math.floor(Date.now() / 1_000));
const numbers = {
  RANDOM_READS: "10000",
  RANDOM_READS_FROM: from,
  RANDOM_OPERATIONS: "3000",
  MADE_UP_SCHEMAS: "100",
  MADE_UP_SCHEMAS_FROM: from,
  BOOKINGS: "300",
  CHAOS_EVENTS: "10000",
  DAY_SECONDS: "300",
  STOCK_LOAD_SECONDS: "300",
};
const files = [
  "reads/differential",
  "reads/made-up-schemas",
  "plugins/random-operations",
  "db/bookings-both-ways",
  "db/shipments-both-ways",
  "end-to-end/webhooks",
  "end-to-end/warehouse-day",
  "end-to-end/stock-under-load",
];
console.log(`RANDOM_READS_FROM=${from} MADE_UP_SCHEMAS_FROM=${from}`);
const parameters = files.map((file) => `test/${file}.test.ts`);
const child = spawn("npm", ["run", "--silent", "test:only", "--", ...parameters], {
  env: { ...numbers, ...process.env },
  stdio: "inherit",
});
const [code] = (await once(child, "close")) as [number | null];
process.exitCode = code ?? 1;
