import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PayloadSlots } from "../../src/webhooks/payload-slots.ts";

/** Slots with work that ends on command, and the order in which it began. */
function scene(max: number, maxOfOwner: number) {
  const slots = new PayloadSlots(max, maxOfOwner);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const failed: string[] = [];
  const add = (name: string, group = name) => {
    const work = () =>
      new Promise<void>((resolve) => {
        begun.push(name);
        ends.set(name, resolve);
      });
    slots.run(name[0]!, group, work).catch((error: Error) => failed.push(`${name}: ${error.message}`));
  };
  const end = async (name: string) => {
    ends.get(name)!();
    await new Promise(setImmediate);
  };
  return { slots, begun, failed, add, end };
}
const settled = () => new Promise(setImmediate);

describe("slots for payload queries", () => {
  it("are so many, of one owner fewer, and owners take turns", async () => {
    const { begun, add, end } = scene(2, 1);
    for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) add(name);
    await settled();
    assert.deepEqual(begun, ["a1", "b1"]);
    await end("a1");
    assert.deepEqual(begun, ["a1", "b1", "a2"]);
    await end("b1");
    await end("a2");
    await end("c1");
    assert.deepEqual(begun, ["a1", "b1", "a2", "c1", "b2", "a3"]);
  });

  it("are free again after a failure", async () => {
    const { slots, begun, add } = scene(1, 1);
    await assert.rejects(
      slots.run("a", "a", () => Promise.reject(new Error("no"))),
      /no/,
    );
    add("b1");
    await settled();
    assert.deepEqual(begun, ["b1"]);
  });

  it("end the waiting of a group, and of no other", async () => {
    const { slots, begun, failed, add, end } = scene(1, 1);
    add("a1", "one");
    add("a2", "one");
    add("a3", "two");
    add("a4", "one");
    await settled();
    slots.drop("a", "one", new Error("dropped"));
    await settled();
    assert.deepEqual(failed, ["a2: dropped", "a4: dropped"]);
    await end("a1");
    assert.deepEqual(begun, ["a1", "a3"]);
  });
});
