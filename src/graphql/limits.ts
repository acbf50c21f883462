import { z } from "zod";

/** How much an operation, and a client, may ask for. docs/settings.md explains each to operators. */
export interface Limits {
  /** Fields below one another. */
  depth: number;
  /** Relations and lists, fragments counted each time they are spread. Postgres plans a join for each. */
  relations: number;
  /** Fields with another name than their own, in the whole document. */
  aliases: number;
  /** Uses of directives in the whole document. */
  directives: number;
  /** Words, numbers and signs of a document. */
  tokens: number;
  /** Mutations of one operation. */
  mutations: number;
  /** Points of one operation, see size.ts. */
  cost: number;
  /** Points that a token has to spend in the time that it takes to refill its bucket. */
  bucket: number;
  /** Points that come back per second, on average. */
  refill: number;
}

/** What holds unless settings or the plan say otherwise. */
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

/** Limits that differ from others: of a plan, in the database. Other names and values are refused. */
export const merchantPlanLimits = z.strictObject(
  Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, positive.optional()])) as {
    [name in keyof Limits]: z.ZodOptional<typeof positive>;
  },
);
