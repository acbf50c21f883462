import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NoTurn } from "../../src/lib/turns.ts";
import { Turns } from "../../src/lib/turns.ts";

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
