import { defaultLimits } from "../../graphql/limits.ts";
import { convert, oneOf, setting, wholeNumber } from "./setting.ts";

export const anyLimit = wholeNumber(1, 1_000_000_000);

/** Limits for operations and clients. A plan may override some of them. */
export const limits = {
  limits: {
    depth: setting("LIMIT_DEPTH", anyLimit, defaultLimits.depth, {
      doc: "The maximum depth of an operation: fields within fields. A plan may override this limit and the next eight: `npx erp plan set full --limits '{\"cost\": 4000}'`.",
    }),
    relations: setting("LIMIT_RELATIONS", anyLimit, defaultLimits.relations, {
      doc: "The maximum number of relations and lists in an operation. A fragment counts each time it is spread.",
    }),
    aliases: setting("LIMIT_ALIASES", anyLimit, defaultLimits.aliases, {
      doc: "The maximum number of aliases in a GraphQL document.",
    }),
    directives: setting("LIMIT_DIRECTIVES", anyLimit, defaultLimits.directives, {
      doc: "The maximum number of directives in an operation.",
    }),
    tokens: setting("LIMIT_TOKENS", anyLimit, defaultLimits.tokens, {
      doc: "The maximum number of lexical tokens in a GraphQL document.",
    }),
    mutations: setting("LIMIT_MUTATIONS", anyLimit, defaultLimits.mutations, {
      doc: "The maximum number of mutations in an operation.",
    }),
    cost: setting("LIMIT_COST", anyLimit, defaultLimits.cost, {
      doc: "The maximum cost of an operation, in points (docs/reference/limits.md).",
    }),
    bucket: setting("LIMIT_BUCKET", anyLimit, defaultLimits.bucket, {
      doc: "The number of points that an API credential can spend at once.",
    }),
    refill: setting("LIMIT_REFILL", anyLimit, defaultLimits.refill, {
      doc: "The number of points that an API credential gets back per second.",
    }),
  },
  maxBodyBytes: setting("LIMIT_BODY_BYTES", anyLimit, 1_048_576, {
    doc: "The maximum size of a GraphQL request's body, in bytes.",
  }),
  tokenRequestsPerMinute: setting("LIMIT_TOKEN_REQUESTS", anyLimit, 20, {
    doc: "The number of access tokens that a client may request per minute from one address.",
  }),
  maxConnections: setting("LIMIT_CONNECTIONS", anyLimit, 1_000, {
    doc: "The maximum number of client connections to one process. Beyond that, a new connection closes an idle one. A process that may not open so many files allows fewer.",
  }),
  sharedRates: setting(
    "RATE_LIMITS_IN",
    convert(oneOf("memory", "database"), (place) => place === "database"),
    "memory",
    {
      doc: "The place where rate limits are counted. With `memory`, each process counts by itself, so several processes allow several times as much.",
    },
  ),
};
