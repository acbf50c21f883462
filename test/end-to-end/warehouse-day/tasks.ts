import fc from "fast-check";

/** The next action of a person in the warehouse. Numbers choose among what exists at that time. */
export type Task =
  | { kind: "adjust"; product: string; place: string; delta: number; times: number }
  | { kind: "transfer"; product: string; from: string; to: string; quantity: number; times: number }
  | { kind: "ship"; order: number; times: number }
  | { kind: "takeBack"; choice: number; times: number }
  | {
      kind: "receive";
      product: string;
      place: string;
      quantity: number;
      disposal: number;
      isOrdered: boolean;
    }
  | { kind: "count"; product: string; place: string; unnoticed: number }
  | { kind: "send"; choice: number; times: number }
  | { kind: "passingBin"; product: string; quantity: number };

export const products = ["hammer", "nail"];
/** Places that goods are picked from. */
const shelves = ["A-1", "A-2", "C-1", "hall"];
/** A place that nothing is picked from, so that goods may vanish there before a count reveals it. */
export const store = "B-1";
export const orderCount = 80;

const product = fc.constantFrom(...products);
const shelf = fc.constantFrom(...shelves);
// How often the same call is sent at the same time, with the same key
const times = fc.constantFrom(1, 1, 1, 2);
const choice = fc.nat(1_000);

const task = <T extends Task["kind"]>(kind: T, rest: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record({ kind: fc.constant(kind), ...rest }) as unknown as fc.Arbitrary<Task>;

export const tasks: fc.Arbitrary<Task> = fc.oneof(
  {
    weight: 6,
    arbitrary: task("adjust", {
      product,
      place: shelf,
      delta: fc.integer({ min: -4, max: 9 }).filter((delta) => delta !== 0),
      times,
    }),
  },
  {
    weight: 5,
    arbitrary: fc
      .shuffledSubarray([...shelves, store], { minLength: 2, maxLength: 2 })
      .filter(([from]) => from !== store)
      .chain(([from, to]) =>
        task("transfer", {
          product,
          from: fc.constant(from),
          to: fc.constant(to),
          quantity: fc.integer({ min: 1, max: 5 }),
          times,
        }),
      ),
  },
  { weight: 5, arbitrary: task("ship", { order: fc.nat(orderCount - 1), times }) },
  { weight: 2, arbitrary: task("takeBack", { choice, times }) },
  {
    weight: 3,
    arbitrary: task("receive", {
      product,
      place: fc.constantFrom("A-1", "A-2", "C-1"),
      quantity: fc.integer({ min: 2, max: 12 }),
      disposal: fc.constantFrom(0, 0, 1),
      isOrdered: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(...shelves, store, store).chain((place) =>
      task("count", {
        product,
        place: fc.constant(place),
        unnoticed: fc.integer({ min: place === store ? -3 : 0, max: 3 }),
      }),
    ),
  },
  { weight: 4, arbitrary: task("send", { choice, times }) },
  { weight: 2, arbitrary: task("passingBin", { product, quantity: fc.integer({ min: 1, max: 3 }) }) },
);
