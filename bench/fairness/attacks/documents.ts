import type { Attack, Play, RequestToSend } from "../attack.ts";
import { bodyOf, repeat, sendRepeatedly } from "../attack.ts";

const withAccess = (query: string, { token }: Play): RequestToSend => ({ token, body: bodyOf(query) });
const without = (query: string, { poor }: Play): RequestToSend => ({ token: poor, body: bodyOf(query) });
const list = "products { edges { node { id } } }";
const types = "types { name description fields { name description args { name } } enumValues { name } }";

/** Attacks by operations that are slow to parse, validate or run. */
export const byDocuments: Attack[] = [
  {
    name: "documents",
    what: "ever new documents of 10 kB, without a scope",
    run: sendRepeatedly(8, (play, n) => {
      const numbers = repeat(4_800, (i) => String((i + n) % 10));
      const filter = `{ availableStock: { in: [${numbers}] } }`;
      return without(`query Q${n} { products(filter: ${filter}) { edges { node { id } } } }`, play);
    }),
  },
  {
    name: "introspection",
    what: "the whole schema, ever anew and many times at once",
    run: sendRepeatedly(8, (play, n) => {
      if (n % 2) return without(`{ ${repeat(100, (i) => `a${i}: __schema { ${types} }`)} }`, play);
      return without(`query Q${n} { __schema { ${types} } }`, play);
    }),
  },
  {
    name: "validation",
    what: "fragments and equal fields that are compared with each other",
    run: sendRepeatedly(8, (play, n) => {
      const count = n % 2 ? 330 : 160;
      if (n % 4 < 2) return without(`query Q${n} { ${repeat(count, () => list)} }`, play);
      const fragments = repeat(count, (i) => `fragment F${i} on Query { __typename }`);
      return without(`query Q${n} { ${repeat(count, (i) => `...F${i}`)} } ${fragments}`, play);
    }),
  },
  {
    name: "filters",
    what: "250 comparisons that no index answers",
    run: sendRepeatedly(12, (play, n) => {
      const conditions = repeat(250, (i) => `{ lastName: { contains: "no${n}x${i}" } }`);
      return withAccess(`{ customers(filter: { OR: [${conditions}] }) { edges { node { id } } } }`, play);
    }),
  },
  {
    name: "costly reads",
    what: "reads of as many rows as the limits allow",
    run: sendRepeatedly(12, (play, n) => {
      const items = "lineItems(first: 38) { edges { node { label product { productNumber name } } } }";
      return withAccess(
        `query Q${n} { orders(first: 250) { edges { node { orderNumber ${items} } } } }`,
        play,
      );
    }),
  },
  {
    name: "aggregates",
    what: "as many groups of movements, and searches, as the limits allow",
    run: sendRepeatedly(12, (play, n) => {
      const groups =
        "groupedAggregates(groupBy: [CREATED_AT_TRUNCATED_TO_HOUR]) { count distinctCount { productId } }";
      const lists = repeat(30, (i) => `a${i}: stockMovements(first: 0) { ${groups} }`);
      const searches = repeat(
        30,
        (i) => `s${i}: orders(first: 0, search: "1${i % 10}0") { aggregates { count } }`,
      );
      return withAccess(`query Q${n} { ${n % 2 ? lists : searches} }`, play);
    }),
  },
];
