// A process for tests that sends webhooks until it is killed, with very short pauses between attempts.
import { pino } from "pino";
import { AllowList } from "../../src/webhooks/addresses.ts";
import { startWebhooks } from "../../src/webhooks/start-webhooks.ts";
import { readPlain } from "../webhooks/support.ts";

startWebhooks({
  url: process.env.SENDER_DATABASE!,
  concurrency: 32,
  allowed: new AllowList(["127.0.0.1"]),
  readPayload: readPlain,
  logger: pino({ level: process.env.LOUD ? "warn" : "error" }, process.stderr),
  clock: { pace: 0.0001, random: Math.random },
  leaseMs: Number(process.env.SENDER_LEASE ?? 3_000),
  timeoutMs: Number(process.env.SENDER_TIMEOUT ?? 500),
});
process.stdout.write("ready\n");
