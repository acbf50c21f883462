/**
 * Runs what `npm test` does in seconds with random data, for longer, and with other data each time; and files `*.long.ts`,
 * which `npm test` leaves out, as they take a minute or two at their shortest. The numbers can be set, see the files.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";

const numbers = {
  SEED: String(Date.now() % 2 ** 31),
  RANDOM_READS: "10000",
  RANDOM_OPERATIONS: "3000",
  RANDOM_EXPORTS: "300",
  MADE_UP_SCHEMAS: "100",
  BOOKINGS: "300",
  DOCUMENT_ORDERS: "300",
  MONEY_ORDERS: "300",
  RETURN_STEPS: "1500",
  RANDOM_INVOICES: "500",
  NUMBER_CLIENTS: "64",
  CHAOS_EVENTS: "10000",
  REFUSED_KEYS: "500",
  MODEL_SEEDS: "50",
  MODEL_STEPS: "300",
  DEALING_SEEDS: "20",
  DEALING_STEPS: "300",
  PAIR_ROUNDS: "4",
  DAY_SECONDS: "300",
  STOCK_LOAD_SECONDS: "300",
  SOURCING_ORDERS: "300",
  PROMISE_CALLS: "50000",
  STOCKTAKE_SEEDS: "30",
  STOCKTAKE_STEPS: "40",
  MONTHS: "10",
};
const files = [
  "end-to-end/month.test",
  "reads/differential.test",
  "bulk/random-exports.long",
  "reads/made-up-schemas.test",
  "plugins/random-operations.test",
  "db/bookings-both-ways.test",
  "db/ledger-counts.test",
  "db/shipments-both-ways.test",
  "mutations/documents-model.test",
  "mutations/money.test",
  "mutations/returns-model.test",
  "invoices/random.test",
  "invoices/numbers-at-once.test",
  "mutations/refusals-model.test",
  "mutations/sourcing-model.test",
  "mutations/stocktakes-model.test",
  "mutations/pairs-at-once.test",
  "model/dealings.test",
  "model/model.test",
  "end-to-end/webhooks.test",
  "end-to-end/warehouse-day.long",
  "end-to-end/stock-under-load.long",
  "end-to-end/promises-under-load.long",
];
console.log(`SEED=${process.env.SEED ?? numbers.SEED}`);
/**
 * Of a test. Alone on two cores, the longest, of reads, takes five minutes, and all files together 40 minutes of one core
 * and Postgres beside it, by their ordinary times.
 */
const timeoutMs = 30 * 60_000;
const parameters = [`--test-timeout=${timeoutMs}`, ...files.map((file) => `test/${file}.ts`)];
const child = spawn("npm", ["run", "--silent", "test:only", "--", ...parameters], {
  env: { ...numbers, ...process.env },
  stdio: "inherit",
});
const [code] = (await once(child, "close")) as [number | null];
process.exitCode = code ?? 1;
