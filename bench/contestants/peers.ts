import { makeDirectusAdapter } from "../queries/directus.ts";
import { makeMedusaAdapter, writeToMedusa } from "../queries/medusa.ts";
import { makePostgraphileAdapter } from "../queries/postgraphile.ts";
import { readNames } from "../queries/reads.ts";
import { makeVendureAdapter, writeToVendure } from "../queries/vendure.ts";
import type { Contestant } from "./contestant.ts";

const peer = (name: string) => {
  const folder = new URL(`../peers/${name}/`, import.meta.url);
  return { name, folder, program: new URL("server.ts", folder) };
};

/** Other products that support all or some of the queries. */
export const peers: readonly Contestant[] = [
  {
    ...peer("postgraphile-5"),
    title:
      "PostGraphile 5 with its Amber preset and the plugins connection-filter and pg-aggregates, on the same views",
    answers: readNames,
    remarks: [
      "For beginnings of texts it is asked for the range (≥ and <), which Postgres answers from the index here; its startsWith is a LIKE, which is not.",
      "PgIndexBehaviorsPlugin is off, for it hides lists of related rows of views.",
    ],
    makeAdapter: makePostgraphileAdapter,
  },
  {
    ...peer("directus"),
    title: "Directus 12 as it comes, on the tables, with its own tables in a schema of their own",
    database: "as owner",
    answers: ["A", "B", "C", "D", "E", "F", "G"],
    remarks: [
      "Reads the tables as their owner, without row-level security and settings of a transaction, and each client as an administrator: permissions for single fields need a paid key.",
      "Can't go on after an id: in C, D and E it is asked for an offset, which Postgres counts to.",
      "A foreign key is the row that it leads to, so that E reads products and process types too.",
      "H is missing, for Directus ignores tables whose key has two columns.",
      "Whether there is a next page is told by one row more.",
    ],
    makeAdapter: makeDirectusAdapter,
  },
  {
    ...peer("vendure"),
    title:
      "Vendure 3 as it comes, by its admin API (GraphQL), with the same products in a database of its own",
    database: "its own",
    environment: { VENDURE_DISABLE_TELEMETRY: "true" },
    answers: ["A", "B", "W1"],
    remarks: [
      "A product is a variant with translations, prices by channel and stock by location; the GTIN is a custom field.",
      "B finds the text anywhere in the number, by reading all variants, and counts what it finds.",
      "W1 sets the stock, and notes the difference. It has no ledger, no idempotency keys and no log of events.",
    ],
    makeAdapter: makeVendureAdapter,
    write: writeToVendure,
  },
  {
    ...peer("medusa"),
    title: "Medusa 2 as it comes, by its admin API (REST), with the same products in a database of its own",
    database: "its own",
    environment: { MEDUSA_DISABLE_TELEMETRY: "true", LOG_LEVEL: "error" },
    answers: ["A", "B", "W1"],
    remarks: [
      "A product is a variant, whose stock is an item of the inventory that a link leads to.",
      "B finds the text anywhere in the number, the name or the GTIN, by reading all variants, and counts what it finds.",
      "W1 sets the stock, and notes nothing else. It has no ledger, no idempotency keys and no log of events.",
      "Cache, events, workflows and locks are in its memory, as in development, since there is no Redis.",
    ],
    makeAdapter: makeMedusaAdapter,
    write: writeToMedusa,
  },
];
