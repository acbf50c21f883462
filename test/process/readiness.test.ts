import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import express from "express";
import { pino } from "pino";
import { readinessEndpoint } from "../../src/http/readiness-endpoint.ts";
import { Readiness } from "../../src/lib/readiness.ts";
import type { Obstacle } from "../../src/lib/readiness.ts";

test("the readiness tells what each part says, and a part that is silent or fails isn't ready", async (t) => {
  const log: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line).msg) });
  const readiness = new Readiness(logger);
  const server = express().get("/readyz", readinessEndpoint(readiness)).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`);
    return { status: response.status, body: await response.json() };
  };
  assert.deepEqual(await ask(), { status: 200, body: { status: "ok" } });

  let one: Obstacle | null = { code: "ONE_MISSING", message: "One is missing.", isPartial: true };
  readiness.add("one", () => one);
  const partial = { part: "one", ...one };
  for (let i = 0; i < 3; i++)
    assert.deepEqual(await ask(), { status: 200, body: { status: "degraded", obstacles: [partial] } });

  readiness.add("two", () => Promise.reject(new Error("secret")));
  readiness.add("three", () => new Promise(() => {}));
  assert.deepEqual(await ask(), {
    status: 503,
    body: {
      status: "unavailable",
      obstacles: [
        partial,
        { part: "two", code: "CHECK_FAILED", message: "The two can't be checked." },
        { part: "three", code: "NO_ANSWER", message: "The three doesn't answer in time." },
      ],
    },
  });
  one = null;
  for (const part of ["two", "three"]) readiness.add(part, () => null);
  assert.deepEqual(await ask(), { status: 200, body: { status: "ok" } });
  // Changes only
  assert.deepEqual(log, ["not ready", "a readiness check failed", "not ready", "ready again"]);
});
