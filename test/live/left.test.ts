import assert from "node:assert/strict";
import { it } from "node:test";
import { Live } from "../../src/live/live.ts";
import type { EventStream } from "../../src/live/event-stream.ts";
import type { LiveOptions, LiveRequest } from "../../src/live/live.ts";

it("forgets a stream whose client left while it was opened", async () => {
  let onOutdated = () => {};
  const rights = { onOutdated: (listener: () => void) => void (onOutdated = listener) };
  const live = new Live({ rights } as unknown as LiveOptions);
  let asked = 0;
  const caller = () => {
    asked++;
    return Promise.reject(new Error("The database is away."));
  };
  const stream = { ended: AbortSignal.abort(), next: async () => {}, complete: () => {} };
  await live.run({ caller } as unknown as LiveRequest, stream as unknown as EventStream, async () => {});
  const before = asked;
  onOutdated();
  assert.equal(asked, before);
  await live.close();
});
