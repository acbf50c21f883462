import assert from "node:assert/strict";
import { test } from "node:test";
import { growingPause, pause, retry } from "../../src/lib/retry.ts";

/** Makes a function that fails a number of times before it succeeds. */
const failTimes = (times: number) => {
  let attempts = 0;
  return async () => {
    if (++attempts <= times) throw new Error(`failure ${attempts}`);
    return attempts;
  };
};

test("tries until it succeeds, and hears of each failure", async () => {
  const heard: string[] = [];
  const pauseMs = (error: unknown, failures: number) => heard.push(`${failures}: ${String(error)}`) && 0;
  assert.equal(await retry(failTimes(2), { pauseMs }), 3);
  assert.deepEqual(heard, ["1: Error: failure 1", "2: Error: failure 2"]);
});

test("gives up with what is thrown", async () => {
  const pauseMs = (error: unknown, failures: number) => {
    if (failures === 3) throw new Error("enough", { cause: error });
    return 0;
  };
  await assert.rejects(retry(failTimes(Infinity), { pauseMs }), /enough/);
});

test("a signal ends it: in the pause, and without another attempt", async () => {
  const stopping = new AbortController();
  const work = failTimes(1);
  const pauseMs = () => {
    queueMicrotask(() => stopping.abort());
    return 1_000_000;
  };
  assert.equal(await retry(work, { pauseMs, signal: stopping.signal }), null);
  assert.equal(await work(), 2);
  await pause(1_000_000, stopping.signal);
});

test("pauses grow up to the longest", () => {
  const pauses = [1, 2, 3, 4, 5_000].map((failures) =>
    growingPause(failures, { firstMs: 100, longestMs: 500 }),
  );
  assert.deepEqual(pauses, [100, 200, 400, 500, 500]);
});
