import { z } from "zod";

/** Limits of an operation and of a client. docs/reference/settings.md explains each to operators. */
export interface Limits {
  /** Depth: fields within fields. */
  depth: number;
  /** Relations and lists, fragments counted each time they are spread. Postgres plans a join for each. */
  relations: number;
  /** Aliases in the whole document. */
  aliases: number;
  /** Directives in the whole document. */
  directives: number;
  /** Tokens of a document: words, numbers and signs. */
  tokens: number;
  /** Mutations of one operation. */
  mutations: number;
  /** Points of one operation, see assess.ts. */
  cost: number;
  /** Size of a token's bucket, in points. */
  bucket: number;
  /** Points that flow into the bucket per second. */
  refill: number;
}

/** Limits that apply unless settings or the merchant's plan differ. */
export const defaultLimits: Limits = {
  depth: 12,
  relations: 100,
  aliases: 100,
  directives: 50,
  tokens: 5_000,
  mutations: 10,
  cost: 2_000,
  bucket: 2_000,
  refill: 100,
};

const positive = z.number().int().min(1).max(1_000_000_000);

/** The limits of a merchant's plan, from the database. Other names and values are refused. */
export const merchantPlanLimits = z.strictObject(
  Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, positive.optional()])) as {
    [name in keyof Limits]: z.ZodOptional<typeof positive>;
  },
);
