import { speakDirectus } from "../queries/directus.ts";
import { likeService, likeServiceBut } from "../queries/like-service.ts";
import { speakPostgraphile, version4, version5 } from "../queries/postgraphile.ts";
import { listQueries } from "../queries/reads.ts";
import type { Contestant } from "./contestant.ts";

const folderOf = (name: string): URL => new URL(`../peers/${name}/`, import.meta.url);

const peer = (name: string) => ({
  name,
  folder: folderOf(name),
  program: new URL("server.ts", folderOf(name)),
});

const ranges =
  "has no such filters as it comes: with the plugin connection-filter. For beginnings of texts it is asked for the range (≥ and <), which Postgres answers from the index here; its startsWith is a LIKE, which is not.";

/** Others that answer the same queries on the same database. */
export const peers: readonly Contestant[] = [
  {
    ...peer("postgraphile-5"),
    title:
      "PostGraphile 5 with its Amber preset and the plugins connection-filter and pg-aggregates, on the same views",
    remarks: [ranges, "PgIndexBehaviorsPlugin is off, for it hides lists of related rows of views."],
    speak: (ask) => speakPostgraphile(version5, ask),
  },
  {
    ...peer("postgraphile-4"),
    title: "PostGraphile 4 as it comes, on the same views",
    lacks: listQueries,
    remarks: [
      ranges,
      "Has no many-to-many: H goes through the rows of the link, and the answer holds these too.",
    ],
    speak: (ask) => speakPostgraphile(version4, ask),
  },
  {
    ...peer("yoga"),
    title: "a server by hand: GraphQL Yoga, DataLoader, one transaction with row-level security per request",
    lacks: listQueries,
    speak: async () => likeService,
  },
  {
    ...peer("pothos"),
    title:
      "Pothos with its plugins for Relay, scopes and Drizzle, on Yoga; one transaction with row-level security per request",
    lacks: listQueries,
    speak: likeServiceBut,
  },
];

/** Large ones, which take part only when requested by name. */
export const largePeers: readonly Contestant[] = [
  {
    ...peer("directus"),
    title: "Directus 12 as it comes, on the tables, with its own tables in a schema of their own",
    isOwner: true,
    lacks: ["H", ...listQueries],
    remarks: [
      "Reads the tables as their owner, without row-level security and settings of a transaction, and each client as an administrator: permissions for single fields need a paid key.",
      "Can't go on after an id: in C, D and E it is asked for an offset, which Postgres counts to.",
      "A foreign key is the row that it leads to, so that E reads products and process types too.",
      "H is missing, for Directus ignores tables whose key has two columns.",
      "Whether there is a next page is told by one row more.",
    ],
    speak: speakDirectus,
  },
];
