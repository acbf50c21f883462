import assert from "node:assert/strict";
import { it } from "node:test";
import { Live } from "../../src/live/live.ts";
import type { LiveOptions, LiveRequest, Sink } from "../../src/live/live.ts";

it("forgets a stream whose client left while it was opened", async () => {
  let onOutdated = () => {};
  const rights = { onOutdated: (listener: () => void) => void (onOutdated = listener) };
  const live = new Live({ rights } as unknown as LiveOptions);
  let asked = 0;
  const caller = () => {
    asked++;
    return Promise.reject(new Error("The database is away."));
  };
  const sink = { stream: { ended: AbortSignal.abort() }, next: async () => {}, complete: () => {} };
  await live.run({ caller } as unknown as LiveRequest, sink as unknown as Sink, async () => {});
  const before = asked;
  onOutdated();
  assert.equal(asked, before);
  await live.close();
});
