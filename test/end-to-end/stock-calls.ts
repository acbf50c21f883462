import fc from "fast-check";

/** A call of a mutation of stock, in short names: see test/lib/shop.ts. */
export interface Call {
  name: "stockSet" | "stockAdjust" | "stockTransfer";
  lines: Line[];
  validateOnly: boolean;
  /** No key; or one, and the call is sent once, twice at the same time, or again with another input. */
  key: "none" | "once" | "twice" | "misused";
}

/** For transfers, place is the source. Quantity is the target or the change, depending on the mutation. */
export interface Line {
  product: string;
  batch: string | null;
  place: string;
  destination: string;
  quantity: number;
  expectedQuantity: number | null;
}

const places = ["A-1", "A-2", "hall", "B-1"];

const product = fc.constantFrom(
  { product: "hammer", batch: null },
  { product: "nail", batch: null },
  { product: "glue", batch: "G1" },
  { product: "glue", batch: "G2" },
);

const line = (smallest: number, largest: number): fc.Arbitrary<Line> =>
  fc
    .record({
      product,
      places: fc.shuffledSubarray(places, { minLength: 2, maxLength: 2 }),
      quantity: fc
        .integer({ min: smallest, max: largest })
        .filter((quantity) => smallest >= 0 || quantity !== 0),
      expectedQuantity: fc.oneof(
        { weight: 30, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 12 }) },
      ),
    })
    .map(({ product: goods, places: [place, destination], quantity, expectedQuantity }) => {
      return { ...goods, place: place!, destination: destination!, quantity, expectedQuantity };
    });

const how = {
  validateOnly: fc
    .boolean()
    .chain((first) => (first ? fc.constant(false) : fc.boolean().map((second) => second))),
  key: fc.constantFrom<Call["key"]>("none", "once", "once", "twice", "misused"),
};

const sameStock = ({ product: goods, batch, place }: Line) => `${goods} ${batch} ${place}`;

/** Calls about few products and places, so that they collide. */
export const calls: fc.Arbitrary<Call> = fc.oneof(
  fc.record({
    name: fc.constant("stockSet" as const),
    lines: fc.uniqueArray(line(0, 12), { minLength: 1, maxLength: 3, selector: sameStock }),
    ...how,
  }),
  fc.record({
    name: fc.constant("stockAdjust" as const),
    lines: fc.array(line(-6, 7), { minLength: 1, maxLength: 4 }),
    ...how,
  }),
  fc.record({
    name: fc.constant("stockTransfer" as const),
    lines: fc.array(line(1, 4), { minLength: 1, maxLength: 4 }),
    ...how,
  }),
);
