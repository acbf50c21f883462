import { askLimit, writeToFunction, writeToLimit } from "../queries/limit.ts";
import { readNames } from "../queries/reads.ts";
import { commonWriteNames } from "../queries/writes.ts";
import type { Contestant } from "./contestant.ts";
import { dataOf } from "./contestant.ts";

/** A hand-written server under the same rules: a transaction with its settings, and one statement. */
export const limit: Contestant = {
  name: "limit",
  title:
    "LIMIT: node:http, token check, row-level security in a transaction, and one statement by hand for each query",
  program: new URL("../limit/server.ts", import.meta.url),
  answers: [...readNames, ...commonWriteNames],
  remarks: [
    "In mutations it books in a ledger of its own, as durable, with keys, locks and an outbox. It knows no batches, variants, counts, promises or rights, and answers ids only.",
  ],
  makeAdapter: async () => ({ ask: askLimit, read: (_query, body) => dataOf(body) }),
  write: writeToLimit,
};

/** LIMIT with settings and statement in one message to Postgres, as the service sends them. */
export const limitPipelined: Contestant = {
  ...limit,
  remarks: [],
  name: "limit-pipelined",
  title: "LIMIT with settings and statement sent in one message, which is one implicit transaction",
  environment: { PIPELINED: "true" },
  answers: readNames,
};

/** LIMIT for mutations: it only calls the service's own database functions. */
export const sameFunction: Contestant = {
  ...limit,
  remarks: [],
  name: "same-function",
  title: "LIMIT's server, calling the service's own function of the database",
  answers: commonWriteNames,
  write: writeToFunction,
};
