import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FairQueue, TurnRefused } from "../../src/lib/fair-queue.ts";
import { until } from "./until.ts";

/** Takes a turn for an owner and notes when it begins. */
function taker(queue: FairQueue, began: string[]) {
  return (owner: string, name = owner) => {
    queue.take(owner, (refusal) => void began.push(refusal ? `no ${name}` : name));
  };
}

describe("turns of a fair queue", () => {
  it("come at once while there are some, a few for each owner", () => {
    const queue = new FairQueue({ limit: () => 4, limitPerOwner: () => 2 });
    const began: string[] = [];
    const take = taker(queue, began);
    for (const client of ["a", "a", "a", "b", "b", "b"]) take(client);
    assert.deepEqual(began, ["a", "a", "b", "b"]);
    assert.deepEqual(queue.counts, { running: 4, waiting: 2 });
  });

  it("go round among waiting owners, whichever asked for more", () => {
    const queue = new FairQueue({ limit: () => 2, limitPerOwner: () => 1 });
    const began: string[] = [];
    const take = taker(queue, began);
    for (let n = 0; n < 10; n++) take("busy", `busy ${n}`);
    take("a");
    take("b");
    take("c");
    assert.deepEqual(began, ["busy 0", "a"]);
    // The first to begin is the first to end
    for (let n = 0; n < 13; n++) queue.end(began[n]!.split(" ")[0]!);
    for (const client of ["a", "b", "c"]) assert.ok(began.indexOf(client) < began.indexOf("busy 2"), client);
    assert.deepEqual([began.length, queue.counts], [13, { running: 0, waiting: 0 }]);
  });

  it("of light work come while other work of the same owner may not begin, and no order is lost", async () => {
    let most = 1;
    const running = { light: 0, other: 0 };
    const queue = new FairQueue<"light" | "other">({
      ...{ limit: () => 3, limitPerOwner: () => 3, maxWaitMs: () => 50 },
      isLight: (work) => work === "light",
      mayBegin: (work) => running[work!] < (work === "light" ? 1 : most),
    });
    const began: string[] = [];
    const take = (work: "light" | "other", name: string) =>
      queue.take(
        "a",
        (refusal) => {
          if (!refusal) running[work]++;
          began.push(refusal ? `no ${name}` : name);
        },
        work,
      );
    const end = (work: "light" | "other") => {
      running[work]--;
      queue.end("a");
    };
    take("other", "slow 1");
    take("light", "quick 1");
    take("other", "slow 2");
    for (const n of [2, 3, 4]) take("light", `quick ${n}`);
    end("light");
    assert.deepEqual(began, ["slow 1", "quick 1", "quick 2"]);
    assert.equal(
      queue.takeWaiting((work) => work === "light"),
      "light",
    );
    end("other");
    end("light");
    assert.deepEqual(began.slice(3), ["slow 2", "quick 4"]);
    most = 2;
    take("other", "slow 3");
    for (const n of [5, 6]) take("light", `quick ${n}`);
    take("other", "slow 4");
    assert.deepEqual(began.slice(5), ["slow 3"]);
    await until(() => queue.counts.waiting === 0);
    assert.deepEqual(began.slice(6).sort(), ["no quick 5", "no quick 6", "no slow 4"]);
    for (const work of ["light", "other", "other"] as const) end(work);
    assert.deepEqual(queue.counts, { running: 0, waiting: 0 });
  });

  it("are refused when too many wait: the owner's own, or all", () => {
    const queue = new FairQueue({
      limit: () => 1,
      limitPerOwner: () => 1,
      maxWaiting: 3,
      maxWaitingPerOwner: 2,
    });
    const began: string[] = [];
    const take = taker(queue, began);
    for (const client of ["a", "a", "a", "a", "b", "c"]) take(client);
    assert.deepEqual(began, ["a", "no a", "no c"]);
  });

  it("are refused after waiting too long, and not given afterwards", async () => {
    const queue = new FairQueue({ limit: () => 1, limitPerOwner: () => 1, maxWaitMs: () => 20 });
    queue.take("a", () => {});
    const refusal = await new Promise<Error | null>((resolve) => queue.take("b", resolve));
    assert.ok(refusal instanceof TurnRefused);
    assert.equal(refusal.code, "NO_TURN");
    queue.end("a");
    assert.deepEqual(queue.counts, { running: 0, waiting: 0 });
  });

  it("are refused where none may wait, and it says whose are too many", () => {
    const queue = new FairQueue({
      limit: () => 3,
      limitPerOwner: () => 2,
      maxWaiting: 0,
      maxWaitingPerOwner: 0,
    });
    const taken: string[] = [];
    for (const owner of ["a", "a", "a", "b", "b", "c"])
      queue.take(owner, (refusal) =>
        taken.push(
          refusal === null ? owner : (refusal as TurnRefused).isOwn ? `own ${owner}` : `no ${owner}`,
        ),
      );
    assert.deepEqual(taken, ["a", "a", "own a", "b", "no b", "no c"]);
    for (const owner of ["a", "a", "b"]) queue.end(owner);
    assert.deepEqual(queue.counts, { running: 0, waiting: 0 });
  });

  it("last as long as the work that is run in them, and end with its failure", async () => {
    const queue = new FairQueue({ limit: () => 1 });
    const hold = Promise.withResolvers<string>();
    const first = queue.run("a", () => hold.promise);
    const second = queue.run("b", () => Promise.reject(new Error("no")));
    assert.deepEqual(queue.counts, { running: 1, waiting: 1 });
    hold.resolve("done");
    assert.equal(await first, "done");
    await assert.rejects(second, /no/);
    assert.deepEqual(queue.counts, { running: 0, waiting: 0 });
  });

  it("of an owner that hangs leave room for others", async () => {
    const queue = new FairQueue({ limit: () => 3, limitPerOwner: () => 2 });
    const begun: string[] = [];
    const hang = Promise.withResolvers<void>();
    const run = (name: string, work: () => Promise<void>) =>
      queue.run(name[0]!, () => {
        begun.push(name);
        return work();
      });
    const hanging = ["a1", "a2", "a3"].map((name) => run(name, () => hang.promise));
    await Promise.all(["b1", "c1", "b2", "b3"].map((name) => run(name, async () => {})));
    assert.deepEqual(begun, ["a1", "a2", "b1", "c1", "b2", "b3"]);
    assert.equal(queue.isWaiting("a"), true);
    hang.resolve();
    await Promise.all(hanging);
    assert.deepEqual(begun.slice(6), ["a3"]);
  });

  it("are refused to work that is dropped while it waits, and to no other", async () => {
    const queue = new FairQueue<string>({ limit: () => 1 });
    const begun: string[] = [];
    const hold = Promise.withResolvers<void>();
    const run = (name: string, group: string) =>
      queue
        .run(
          name[0]!,
          () => {
            begun.push(name);
            return hold.promise;
          },
          group,
        )
        .catch((error: Error) => `${name}: ${error.message}`);
    const all = [run("a1", "one"), run("a2", "one"), run("a3", "two"), run("a4", "one"), run("b1", "one")];
    queue.drop("a", (group) => group === "one", new Error("dropped"));
    hold.resolve();
    const ends = await Promise.all(all);
    assert.deepEqual(begun, ["a1", "b1", "a3"]);
    assert.deepEqual(ends.filter(Boolean), ["a2: dropped", "a4: dropped"]);
    assert.deepEqual(queue.counts, { running: 0, waiting: 0 });
  });
});
