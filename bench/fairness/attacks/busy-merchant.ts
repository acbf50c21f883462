import type { Attack, Play, RequestToSend } from "../attack.ts";
import { bodyOf, repeat, sendRepeatedly } from "../attack.ts";

/** Products of a mutation. */
const lines = 50;

const dearRead = (n: number): string => {
  const conditions = repeat(60, (i) => `{ manufacturerNumber: { contains: "no${n}x${i}" } }`);
  return bodyOf(`{ products(filter: { OR: [${conditions}] }) { edges { node { id } } } }`);
};

const dearMutation = (n: number): string =>
  bodyOf(
    `mutation ($products: [ProductUpsertInput!]!) {
      productsUpsert(input: { products: $products }) { userErrors { code } } }`,
    {
      products: Array.from({ length: lines }, (_, i) => ({
        productNumber: `F${((n * lines + i) % 20_000) + 1}`,
        name: `Flooded ${n}`,
      })),
    },
  );

/** One of many merchants whose clients send as many requests as they can. Its points don't run out. */
export const busyMerchant: Attack = {
  name: "busy merchant",
  what: "64 connections of four clients, with searches that no index answers, and mutations of fifty products",
  run: sendRepeatedly(64, ({ token, others = [] }: Play, n): RequestToSend => {
    const tokens = [token, ...others];
    return { token: tokens[n % tokens.length]!, body: n % 3 === 2 ? dearMutation(n) : dearRead(n) };
  }),
};
