import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { GroupCommit, GroupLost } from "../../src/mutations/group-commit.ts";
import type { GroupCall } from "../../src/mutations/group-commit.ts";
import { PayloadReader } from "../../src/mutations/payload-reader.ts";

// The order and the fairness of group commit, with simulated statements.

interface Call extends GroupCall<string> {
  name: string;
}

/** A ledger that takes a few milliseconds for each statement, and notes what is done. */
function openLedger({
  isOdd = (name: string): boolean => name === "",
  takesMs = 4,
  aloneMs = 0,
  onGroup = (nth: number): unknown => nth,
} = {}) {
  const done: string[] = [];
  const groups: string[][] = [];
  const active = new Map<string, number>();
  const during = async (products: string[], ms = takesMs) => {
    for (const product of products) {
      active.set(product, (active.get(product) ?? 0) + 1);
      assert.equal(active.get(product), 1, `${product} twice at a time`);
    }
    // The work of a statement
    await sleep(ms);
    for (const product of products) active.set(product, active.get(product)! - 1);
  };
  const commit = new GroupCommit<string, Call>(async (calls) => {
    groups.push(calls.map(({ name }) => name));
    onGroup(groups.filter(({ length }) => length > 1).length);
    await during([...new Set(calls.map(({ key }) => key))]);
    const stopped = new Set<string>();
    return calls.map(({ name, key }) => {
      if (isOdd(name)) stopped.add(key);
      if (stopped.has(key)) return null;
      done.push(name);
      return name;
    });
  });
  const book = (client: string, product: string, name: string) =>
    commit.run({
      client,
      name,
      key: product,
      isRepeatable: false,
      async runAlone(onBegin) {
        onBegin();
        groups.push([name]);
        await during([product], aloneMs || takesMs);
        done.push(name);
        return name;
      },
    });
  return { done, groups, book };
}

const names = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

describe("group commit", () => {
  it("makes few calls alone, beside each other, and those that come meanwhile together", async () => {
    // So long that calls are patient, also on a machine that pauses between them
    const { groups, book } = openLedger({ takesMs: 100 });
    await book("a", "p", "first");
    await Promise.all(names(20, "").map((name) => book("a", `p${name}`, name)));
    assert.deepEqual(groups.slice(0, 4), [["first"], ["0"], ["1"], ["2"]]);
    assert.deepEqual(groups.slice(4).flat(), names(20, "").slice(3));
    assert.ok(groups.length <= 6, `${groups.length} groups`);
  });

  it("makes a second group at once, beside the first, when as many wait as are under way", async () => {
    const begun: string[][] = [];
    const more: Promise<string>[] = [];
    const { groups, book } = openLedger({
      takesMs: 100,
      aloneMs: 1,
      onGroup(nth) {
        // Before this group ends, and when the calls before it have ended
        if (nth === 1) setTimeout(bookMore, 50);
      },
    });
    const bookMore = () => {
      for (const name of names(8, "more ")) {
        begun.push(groups.at(-1)!);
        more.push(book("a", name, name));
      }
      begun.push(groups.at(-1)!);
    };
    await Promise.all(names(11, "").map((name) => book("a", `p${name}`, name)));
    const first = names(11, "").slice(3);
    assert.deepEqual(begun, [...first.map(() => first), names(8, "more ")]);
    await Promise.all(more);
  });

  const odd = { isOdd: (name: string) => name.endsWith("7") };
  it("makes the calls of one product in the order of arrival, also around odd ones", async () => {
    const { done, book } = openLedger(odd);
    const wanted = names(60, "c");
    const productOf = (n: number) => (n % 3 ? "hot" : "warm");
    await Promise.all(wanted.map((name, n) => book(n % 2 ? "a" : "b", productOf(n), name)));
    for (const product of ["hot", "warm"]) {
      const order = wanted.filter((_, n) => productOf(n) === product);
      assert.deepEqual(
        done.filter((name) => order.includes(name)),
        order,
      );
    }
  });

  it("keeps the order of each credential also when more wait than may", async () => {
    const { done, book } = openLedger(odd);
    const [mine, yours] = [names(90, "mine "), names(40, "yours ")];
    await Promise.all([
      ...mine.map((name) => book("me", "hot", name)),
      ...yours.map((name) => book("you", "hot", name)),
    ]);
    assert.deepEqual(
      done.filter((name) => name.startsWith("mine")),
      mine,
    );
    assert.deepEqual(
      done.filter((name) => name.startsWith("yours")),
      yours,
    );
    assert.ok(done.indexOf("yours 9") < done.indexOf("mine 60"));
  });

  it("answers each call what became of it", async () => {
    const { book } = openLedger({ isOdd: (name) => Number(name) % 5 === 0 });
    const answers = await Promise.all(names(60, "").map((name) => book("a", `p${Number(name) % 9}`, name)));
    assert.deepEqual(answers, names(60, ""));
  });

  it("makes those behind a call that its group leaves undone together, too, and not each alone", async () => {
    let statements = 0;
    const active = { now: 0, most: 0 };
    const work = async () => {
      statements++;
      active.most = Math.max(active.most, ++active.now);
      await sleep(2);
      active.now--;
    };
    const commit = new GroupCommit<string, Call>(async (calls) => {
      await work();
      const odd = calls.findIndex(({ name }) => name === "call 0");
      return calls.map(({ name }, index) => (odd >= 0 && index >= odd ? null : name));
    });
    const make = (name: string, key: string, during = work) =>
      commit.run({
        client: name,
        name,
        key,
        isRepeatable: false,
        async runAlone(onBegin) {
          // A connection comes a moment later
          await Promise.resolve();
          onBegin();
          await during();
          return name;
        },
      });
    // Statements are under way, so what comes now waits for a group
    const others = names(3, "other ").map((name) => make(name, name, () => sleep(5)));
    await sleep(1);
    const calls = names(32, "call ").map((name) => make(name, "one product"));
    await Promise.all([...others, ...calls]);
    assert.ok(statements < 10, `${statements} statements`);
    assert.equal(active.most, 1);
  });

  it("lets credentials take turns: one that sends hundreds doesn't hold up another", async () => {
    const { done, book } = openLedger();
    const many = names(200, "many ").map((name, n) => book("many", `m${n % 50}`, name));
    const few = names(4, "few ").map((name, n) => book("few", `f${n}`, name));
    await Promise.all([...many, ...few]);
    assert.ok(done.indexOf("few 3") < 80, String(done.indexOf("few 3")));
  });

  it("doesn't wait for long for what is slow", async () => {
    let release = () => {};
    const slow = new Promise<void>((resolve) => (release = resolve));
    const groups = new GroupCommit<string>(() => Promise.resolve([]));
    const held = groups.run({
      client: "a",
      key: "slow",
      isRepeatable: false,
      async runAlone(onBegin) {
        onBegin();
        await slow;
        return "slow";
      },
    });
    const beside = groups.run({
      client: "a",
      key: "other",
      isRepeatable: false,
      runAlone(onBegin) {
        onBegin();
        return Promise.resolve("quick");
      },
    });
    assert.equal(await beside, "quick");
    release();
    assert.equal(await held, "slow");
  });

  it("fails those of a lost group that can't be repeated, and makes the others alone", async () => {
    const lost = new Error("lost");
    const groups = new GroupCommit<string>(() => Promise.reject(new GroupLost(lost)));
    const book = (n: number) =>
      groups.run({
        client: "a",
        key: `p${n}`,
        isRepeatable: n % 2 === 1,
        async runAlone(onBegin) {
          onBegin();
          // So long that calls are patient, also on a machine that pauses between them
          await sleep(100);
          return "alone";
        },
      });
    await book(0);
    const outcomes = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map(book));
    // The first few had nothing to wait for
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "fulfilled", "fulfilled", "fulfilled", "rejected", "fulfilled", "rejected"],
    );
  });
});

describe("payloads", () => {
  const statement = (name: string) => ({ text: name, name, slots: [] });
  const settings = (...values: string[]) => ({ text: "settings", values });

  /** Reads that are noted, with what their payloads say. */
  function openReader(fails: (count: number) => boolean = () => false) {
    const reads: string[] = [];
    const reader = new PayloadReader((client, { values: [rights] }, { name, values }) => {
      const payloads = JSON.parse(values!.at(-2) as string) as { id: number }[];
      reads.push(`${client} ${rights} ${name} ${payloads.length}`);
      if (fails(payloads.length)) return Promise.reject(new Error("failed"));
      // Not in their order, and without a row for one that is gone
      const rows = payloads.map(({ id }, index) => [`row ${id}`, String(index + 1)]);
      return Promise.resolve(rows.filter(([row]) => row !== "row 3").reverse());
    });
    const read = (client: string, rights: string, name: string, id: number) =>
      reader.read({
        client,
        settings: settings(rights),
        statement: statement(name),
        values: [],
        payload: { id },
      });
    return { reads, read };
  }

  it("are read by one statement for those that ask for the same with the same rights", async () => {
    const { reads, read } = openReader();
    const rows = await Promise.all([
      read("a", "all", "ids", 1),
      read("a", "few", "ids", 2),
      read("a", "all", "ids", 3),
      read("b", "other", "ids", 4),
      read("a", "all", "names", 5),
      read("a", "all", "ids", 6),
    ]);
    assert.deepEqual(reads, ["a all ids 3", "a few ids 1", "b other ids 1", "a all names 1"]);
    assert.deepEqual(
      rows.map((row) => row?.[0] ?? null),
      ["row 1", "row 2", null, "row 4", "row 5", "row 6"],
    );
  });

  it("are each read alone when that fails, and null when that fails, too", async () => {
    const { reads, read } = openReader((count) => count > 1);
    const rows = await Promise.all([read("a", "all", "ids", 1), read("a", "all", "ids", 2)]);
    assert.deepEqual(rows, [
      ["row 1", "1"],
      ["row 2", "1"],
    ]);
    assert.deepEqual(reads, ["a all ids 2", "a all ids 1", "a all ids 1"]);
    const failing = openReader(() => true);
    assert.deepEqual(await Promise.all([1, 2].map((id) => failing.read("a", "all", "ids", id))), [
      null,
      null,
    ]);
  });
});
