import assert from "node:assert/strict";
import { suite, test } from "node:test";
import pg from "pg";
import { UnreachableServers, Unreachable } from "../../src/merchants/away-servers.ts";
import { Backlogs } from "../../src/merchants/backlogs.ts";
import { MerchantTurns } from "../../src/merchants/merchant-turns.ts";
import { noteOwnRows, noteWrites } from "../../src/merchants/write-watch.ts";
import type { Watched } from "../../src/merchants/write-watch.ts";

suite("what is known of merchants", () => {
  test("turns of an owner that hangs leave room for others, and each merchant has one only once", async () => {
    const turns = new MerchantTurns(3, 2);
    const begun: string[] = [];
    const hanging = Promise.withResolvers<void>();
    const run = (merchant: string, work: () => Promise<void>) =>
      turns.run(
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
    assert.deepEqual(begun, ["a1", "a2", "b1", "c1", "b2", "b3"]);
    assert.equal(turns.has("a3"), true);
    assert.equal(turns.counts.waiting, 1);
    hanging.resolve();
    await turns.close();
    assert.deepEqual(begun.slice(6), ["a3"]);
    assert.deepEqual([turns.counts, turns.has("a3")], [{ running: 0, waiting: 0 }, false]);
  });

  test("of a server that is away one merchant tries at a time, ever more rarely, until one has reached it", () => {
    const changes: string[] = [];
    const servers = new UnreachableServers({
      onBack: (server) => changes.push(`${server} is back`),
      onAway: (server) => changes.push(`${server} is away`),
    });
    assert.equal(servers.nextAttemptAt("a", 0), null);
    servers.noteFailure("a", 0);
    assert.equal(servers.nextAttemptAt("b", 0), null);
    const second = servers.nextAttemptAt("a", 0)!;
    assert.equal(servers.nextAttemptAt("a", second), null);
    assert.ok(servers.nextAttemptAt("a", second)! > second);
    assert.deepEqual(changes.splice(0), []);
    servers.noteFailure("a", second);
    assert.ok(servers.nextAttemptAt("a", second)! - second > second);
    assert.deepEqual(changes.splice(0), ["a is away"]);
    servers.noteAnswer("a");
    assert.equal(servers.nextAttemptAt("a", second), null);
    servers.noteAnswer("a");
    assert.deepEqual(changes, ["a is back"]);
  });

  test("an attempt is noted as what it was: no answer, a refusal of Postgres, or another failure", async () => {
    const changes: string[] = [];
    const servers = new UnreachableServers({
      onBack: () => changes.push("back"),
      onAway: () => changes.push("away"),
    });
    const failing = (error: Error) =>
      assert.rejects(
        servers.attempt("a", () => Promise.reject(error)),
        error,
      );
    for (let n = 0; n < 2; n++) await failing(new Unreachable());
    await failing(new Error("of our own"));
    assert.deepEqual(changes, ["away"]);
    await failing(new pg.DatabaseError("refused", 7, "error"));
    assert.deepEqual(changes, ["away", "back"]);
    await servers.attempt("a", async () => {});
    assert.deepEqual(changes, ["away", "back"]);
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
      url: "",
      server: "",
      database: "",
      visitAt: Infinity,
      visitedAt: 0,
      failures: 0,
      isUnknown: false,
      writes: null,
      changes: 0,
      changedAt: 0,
      ownRows: 0,
      ownRowsUntil: 0,
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
    noteOwnRows(merchant, 5, now);
    assert.deepEqual([isAsked(3), isAsked(2), isAsked(1)], [false, false, true]);
    // Somebody else's look like its own, until these are counted as well
    noteOwnRows(merchant, 5, now);
    assert.deepEqual([isAsked(3), isAsked(5)], [false, true]);
    // Or until they should have been
    noteOwnRows(merchant, 5, now);
    assert.equal(isAsked(3), false);
    now += 15_000;
    assert.deepEqual([isAsked(0), isAsked(0)], [true, false]);
    assert.equal(isAsked(0, "reset"), true);
  });
});
