// Files and imports leave requests their time: pieces, blank lines, rests. That others don't notice them is measured by
// test/fairness.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pauseAfter } from "../../src/bulk/import-rows.ts";
import { jsonLines } from "../../src/bulk/json-lines.ts";
import { boundedBytes } from "../../src/bulk/upload.ts";

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}
const free = () => Promise.resolve();

describe("reading a file", () => {
  it("passes over blank lines without looking into each, and counts them", async (t) => {
    const decode = t.mock.method(TextDecoder.prototype, "decode");
    const file = Buffer.from(`${"\n".repeat(50_000)}{"n":1}\n${" \t\r\n".repeat(10_000)}\r\n{"n":2}\n \n`);
    const rows = [];
    for await (const some of jsonLines(boundedBytes(once(file), Infinity, free))) rows.push(...some);
    assert.deepEqual(rows, [
      { line: 50_001, text: '{"n":1}' },
      { line: 60_003, text: '{"n":2}' },
    ]);
    assert.ok(decode.mock.callCount() < 20, `${decode.mock.callCount()}`);
  });

  it("lets others have their turns between its pieces", async () => {
    const pieces = 6;
    let turns = 0;
    let isOver = false;
    const other = () => {
      turns++;
      if (!isOver) setImmediate(other);
    };
    setImmediate(other);
    let bytes = 0;
    let longest = 0;
    for await (const piece of boundedBytes(once(Buffer.alloc(pieces * 8_192)), Infinity, free)) {
      bytes += piece.length;
      longest = Math.max(longest, piece.length);
      for (const end = performance.now() + 3; performance.now() < end;);
    }
    isOver = true;
    assert.equal(bytes, pieces * 8_192);
    assert.equal(longest, 8_192);
    // Before each piece but the first
    assert.ok(turns >= pieces - 1, `${turns}`);
  });
});

describe("an import", () => {
  it("rests as long as it has worked, while others are there", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { signal } = new AbortController();
    let isOver = false;
    const resting = pauseAfter(120, true, signal).then(() => (isOver = true));
    t.mock.timers.tick(119);
    await Promise.resolve();
    assert.equal(isOver, false);
    t.mock.timers.tick(1);
    await resting;
    await pauseAfter(120, false, signal);
  });

  it("doesn't rest while it is to stop", async () => {
    const stop = new AbortController();
    const resting = pauseAfter(3_600_000, true, stop.signal);
    stop.abort();
    await resting;
  });
});
