import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AwayServers } from "../../src/process/merchants/away-servers.ts";
import { Backlogs } from "../../src/process/merchants/backlogs.ts";
import { noteOwn, noteWrites } from "../../src/process/merchants/write-watch.ts";
import type { Watched } from "../../src/process/merchants/write-watch.ts";

suite("what is known of merchants", () => {
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

  test("what waits is unknown while there are merchants and none has said it; without any, it is nothing", () => {
    let count = 0;
    const backlogs = new Backlogs(() => count);
    const nothing = backlogs.sum;
    assert.deepEqual([nothing.outbox, nothing.deliverySeconds, nothing.jobs.due], [0, 0, 0]);
    count = 2;
    assert.throws(() => backlogs.sum);
    backlogs.note("a", { ...nothing, outbox: 3, subscriptions: { HEALTHY: 1 } });
    backlogs.note("b", null);
    assert.deepEqual(backlogs.sum, { ...nothing, outbox: 3 });
    backlogs.forget("a");
    assert.deepEqual(backlogs.sum, nothing);
    backlogs.forget("b");
    assert.throws(() => backlogs.sum);
  });

  test("who was written to is asked, but not for what the process itself has counted", () => {
    const merchant: Watched = {
      ...{ url: "", server: "", database: "", visitAt: Infinity, visitedAt: 0, failures: 0 },
      ...{ writes: null, changes: 0, changedAt: 0, own: 0, ownUntil: 0, mayRest: false },
    };
    let [now, rows] = [100_000, 1_000];
    const isAsked = (written: number, since: string | null = null): boolean => {
      merchant.visitAt = Infinity;
      noteWrites(merchant, { rows: (rows += written), since }, (now += 2_000));
      return merchant.visitAt < Infinity;
    };
    isAsked(0);
    assert.deepEqual([isAsked(0), isAsked(1), isAsked(0)], [false, true, false]);
    // Postgres counts some rows earlier than others
    noteOwn(merchant, 5, now);
    assert.deepEqual([isAsked(3), isAsked(2), isAsked(1)], [false, false, true]);
    // Somebody else's look like its own, until these are counted as well
    noteOwn(merchant, 5, now);
    assert.deepEqual([isAsked(3), isAsked(5)], [false, true]);
    // Or until they should have been
    noteOwn(merchant, 5, now);
    assert.equal(isAsked(3), false);
    now += 15_000;
    assert.deepEqual([isAsked(0), isAsked(0)], [true, false]);
    assert.equal(isAsked(0, "reset"), true);
  });
});
