import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Spending } from "../../src/http/middleware/spend-points.ts";
import { EventLoopQueue } from "../../src/lib/event-loop-queue.ts";
import { FairQueue } from "../../src/lib/fair-queue.ts";
import { query, startService } from "../lib/service.ts";

/** Blocks the event loop. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe("turns of the event loop", () => {
  it("come at once while there is little to do", async () => {
    const turns = new EventLoopQueue();
    const done: number[] = [];
    for (let n = 0; n < 5; n++) turns.take("busy", () => done.push(n));
    assert.deepEqual(done, [0, 1, 2, 3, 4]);
    assert.equal(turns.waits.waiting, 0);
  });

  it("are one for a client that has worked, and others go before the rest of its work", async () => {
    const turns = new EventLoopQueue();
    const done: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const busy = (n: number) => () => {
      work(3);
      done.push(`busy ${n}`);
      if (n === 9) resolve();
    };
    for (let n = 0; n < 10; n++) turns.take("busy", busy(n));
    turns.take("other", () => done.push("other"));
    assert.deepEqual([done, turns.waits.waiting], [["busy 0", "other"], 9]);
    // In another turn of the loop, as when a request arrives
    setTimeout(() => turns.take("other", () => done.push("other again")), 1);
    await promise;
    assert.equal(turns.waits.waiting, 0);
    assert.ok(done.indexOf("other again") <= 4, done.join());
    assert.deepEqual(
      done.filter((each) => each.startsWith("busy")),
      Array.from({ length: 10 }, (_, n) => `busy ${n}`),
    );
  });

  it("go round among clients that wait", async () => {
    const turns = new EventLoopQueue();
    const done: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const take = (client: string) =>
      turns.take(client, () => {
        work(3);
        if (done.push(client) === 12) resolve();
      });
    for (const client of ["a", "b", "c"]) for (let n = 0; n < 4; n++) take(client);
    await promise;
    assert.deepEqual(done.slice(0, 3).toSorted(), ["a", "b", "c"]);
    for (let n = 3; n < 12; n += 3) assert.deepEqual(done.slice(n, n + 3).toSorted(), ["a", "b", "c"]);
  });
});

describe("turns of groups", () => {
  it("are one for all clients of a group", async () => {
    const groups = new EventLoopQueue();
    const [many, few] = ["many", "few"].map((owner) => new EventLoopQueue({ queue: groups, owner }));
    const done: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const take = (queue: EventLoopQueue, client: string) =>
      queue.take(client, () => {
        work(3);
        if (done.push(client) === 11) resolve();
      });
    for (let n = 0; n < 10; n++) take(many!, `client ${n}`);
    take(few!, "other");
    await promise;
    assert.ok(done.indexOf("other") <= 1, done.join());
  });
});

describe("refusals", () => {
  it("wait when they are repeated, and then take turns, as those of one moment end their wait together", (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const waiting: (() => void)[] = [];
    const turns = { take: (_client: string, work: () => void) => waiting.push(work) };
    const spending = new Spending({} as never, {} as never, [], turns as never);
    const answered: number[] = [];
    for (let n = 0; n < 5; n++) spending.refuseSlowly("one", () => answered.push(n));
    assert.deepEqual([answered, waiting.length], [[0], 0]);
    t.mock.timers.tick(500);
    assert.deepEqual([answered, waiting.length], [[0], 4]);
    for (const work of waiting) work();
    assert.deepEqual(answered, [0, 1, 2, 3, 4]);
  });
});

describe("requests", () => {
  it("take a turn of their token, of the event loop and of the connections", async (t) => {
    const service = await startService();
    t.after(() => service.close());
    const tokens = [await service.token(), await service.token()];
    const { rows } = await service.owner.query<{ id: string }>("select id from auth.credential");
    assert.equal(rows.length, tokens.length);
    const ofLoop = t.mock.method(EventLoopQueue.prototype, "take");
    const ofConnections = t.mock.method(FairQueue.prototype, "take");
    for (const token of tokens) assert.equal((await service.ask(token, { query })).status, 200);
    for (const { mock } of [ofLoop, ofConnections]) {
      const clients = mock.calls.map((call) => call.arguments[0]);
      for (const { id } of rows) assert.ok(clients.includes(id), `${id} of ${clients.join()}`);
    }
  });

  it("with a long body take a turn before it is parsed", async (t) => {
    const service = await startService();
    t.after(() => service.close());
    const token = await service.token();
    const body = (more: number) => JSON.stringify({ query, variables: { a: "x".repeat(more) } });
    for (const [text, expected] of [
      [body(1), ["parse", "turn"]],
      [body(10_000), ["turn", "parse", "turn"]],
    ] as const) {
      const happened: string[] = [];
      const take = EventLoopQueue.prototype.take;
      const parse = JSON.parse;
      const mocks = [
        t.mock.method(
          EventLoopQueue.prototype,
          "take",
          function (this: EventLoopQueue, ...given: Parameters<typeof take>) {
            if (given[0] !== "") happened.push("turn");
            take.apply(this, given);
          },
        ),
        t.mock.method(JSON, "parse", (given: string) => {
          if (given === text) happened.push("parse");
          return parse(given);
        }),
      ];
      const { status } = await service.ask(token, text);
      for (const { mock } of mocks) mock.restore();
      assert.deepEqual([status, happened], [200, expected]);
    }
  });
});
