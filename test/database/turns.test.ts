import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NoTurn } from "../../src/lib/turns.ts";
import { Turns } from "../../src/lib/turns.ts";
import { until } from "../lib/until.ts";

/** Takes a turn for a client and notes when it begins. */
function taker(turns: Turns, began: string[]) {
  return (client: string, name = client) => {
    turns.take(client, (refusal) => void began.push(refusal ? `no ${name}` : name));
  };
}

describe("turns", () => {
  it("come at once while there are some, a few for each client", () => {
    const turns = new Turns({ total: () => 4, perClient: () => 2 });
    const began: string[] = [];
    const take = taker(turns, began);
    for (const client of ["a", "a", "a", "b", "b", "b"]) take(client);
    assert.deepEqual(began, ["a", "a", "b", "b"]);
    assert.deepEqual(turns.counts, { running: 4, waiting: 2 });
  });

  it("go round among waiting clients, whichever asked for more", () => {
    const turns = new Turns({ total: () => 2, perClient: () => 1 });
    const began: string[] = [];
    const take = taker(turns, began);
    for (let n = 0; n < 10; n++) take("busy", `busy ${n}`);
    take("a");
    take("b");
    take("c");
    assert.deepEqual(began, ["busy 0", "a"]);
    // The first to begin is the first to end
    for (let n = 0; n < 13; n++) turns.end(began[n]!.split(" ")[0]!);
    for (const client of ["a", "b", "c"]) assert.ok(began.indexOf(client) < began.indexOf("busy 2"), client);
    assert.deepEqual([began.length, turns.counts], [13, { running: 0, waiting: 0 }]);
  });

  it("of light work come while other work of the same client may not begin, and no order is lost", async () => {
    let most = 1;
    const running = { light: 0, other: 0 };
    const turns = new Turns<"light" | "other">({
      ...{ total: () => 3, perClient: () => 3, maxWaitMs: () => 50 },
      isLight: (work) => work === "light",
      mayBegin: (work) => running[work!] < (work === "light" ? 1 : most),
    });
    const began: string[] = [];
    const take = (work: "light" | "other", name: string) =>
      turns.take(
        "a",
        (refusal) => {
          if (!refusal) running[work]++;
          began.push(refusal ? `no ${name}` : name);
        },
        work,
      );
    const end = (work: "light" | "other") => {
      running[work]--;
      turns.end("a");
    };
    take("other", "slow 1");
    take("light", "quick 1");
    take("other", "slow 2");
    for (const n of [2, 3, 4]) take("light", `quick ${n}`);
    end("light");
    assert.deepEqual(began, ["slow 1", "quick 1", "quick 2"]);
    assert.equal(
      turns.takeAlong((work) => work === "light"),
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
    await until(() => turns.counts.waiting === 0);
    assert.deepEqual(began.slice(6).sort(), ["no quick 5", "no quick 6", "no slow 4"]);
    for (const work of ["light", "other", "other"] as const) end(work);
    assert.deepEqual(turns.counts, { running: 0, waiting: 0 });
  });

  it("are refused when too many wait: the client's own, or all", () => {
    const turns = new Turns({ total: () => 1, perClient: () => 1, maxWaiting: 3, maxWaitingPerClient: 2 });
    const began: string[] = [];
    const take = taker(turns, began);
    for (const client of ["a", "a", "a", "a", "b", "c"]) take(client);
    assert.deepEqual(began, ["a", "no a", "no c"]);
  });

  it("are refused after waiting too long, and not given afterwards", async () => {
    const turns = new Turns({ total: () => 1, perClient: () => 1, maxWaitMs: () => 20 });
    turns.take("a", () => {});
    const refusal = await new Promise<NoTurn | null>((resolve) => turns.take("b", resolve));
    assert.equal(refusal!.code, "NO_TURN");
    turns.end("a");
    assert.deepEqual(turns.counts, { running: 0, waiting: 0 });
  });
});
