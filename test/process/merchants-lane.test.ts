import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AwayServers } from "../../src/process/merchants/away-servers.ts";
import { Lane } from "../../src/process/merchants/lane.ts";

suite("the lane of merchants", () => {
  test("a group that hangs leaves room for others, and all have their turns in the end", async () => {
    const lane = new Lane(3, 2);
    const begun: string[] = [];
    const hanging = Promise.withResolvers<void>();
    const run = (merchant: string, work: () => Promise<void>) =>
      lane.run(
        merchant,
        () => {
          begun.push(merchant);
          return work();
        },
        merchant[0],
      );
    for (const merchant of ["a1", "a2", "a3", "a1"]) run(merchant, () => hanging.promise);
    const others = ["b1", "c1", "b2", "b3"].map((merchant) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      run(merchant, async () => resolve());
      return promise;
    });
    await Promise.all(others);
    assert.deepEqual(begun, ["a1", "a2", "b1", "b2", "c1", "b3"]);
    assert.equal(lane.has("a3"), true);
    assert.equal(lane.counts.waiting, 1);
    const last = Promise.withResolvers<void>();
    run("a4", async () => last.resolve());
    hanging.resolve();
    await last.promise;
    assert.deepEqual(begun.slice(6), ["a3", "a4"]);
    await lane.close();
    assert.deepEqual(lane.counts, { running: 0, waiting: 0 });
  });

  test("of a server that is away one merchant tries at a time, ever more rarely, until one has reached it", () => {
    const servers = new AwayServers();
    assert.equal(servers.waitUntil("a", 0), null);
    servers.noteFailure("a", 0);
    assert.equal(servers.waitUntil("b", 0), null);
    const second = servers.waitUntil("a", 0)!;
    assert.equal(servers.waitUntil("a", second), null);
    assert.ok(servers.waitUntil("a", second)! > second);
    servers.noteFailure("a", second);
    assert.ok(servers.waitUntil("a", second)! - second > second);
    assert.equal(servers.noteAnswer("a"), true);
    assert.equal(servers.waitUntil("a", second), null);
    assert.equal(servers.noteAnswer("a"), false);
  });
});
