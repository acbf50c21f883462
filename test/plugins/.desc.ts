import { buildSchema } from "postgraphile/graphql";
import { readFileSync } from "node:fs";
import { describedThings } from "../schema/described-things.ts";
const schema = buildSchema(readFileSync("/tmp/h3/unstable.graphql", "utf8"));
for (const [k, d] of describedThings(schema)) if (!d?.trim()) console.log("MISSING", k); else if (/(^|\s)@[a-zA-Z]|Reads (a|and)/.test(d)) console.log("LEAK", k, d);
