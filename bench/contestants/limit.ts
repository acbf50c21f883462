import { askLimit } from "../queries/limit.ts";
import type { Contestant } from "./contestant.ts";
import { dataOf } from "./contestant.ts";

/** What a server could do at best that keeps to the same rules. */
export const limit: Contestant = {
  name: "limit",
  title: "LIMIT: node:http, token check, row-level security, and one statement by hand for each query",
  program: new URL("../limit/server.ts", import.meta.url),
  speak: async () => ({ ask: askLimit, read: (_query, body) => dataOf(body) }),
};
