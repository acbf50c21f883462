import { defaultLimits } from "../../graphql/limits.ts";
import { convert, oneOf, setting, wholeNumber } from "./setting.ts";

export const anyLimit = wholeNumber(1, 1_000_000_000);

/** Limits of operations and clients that apply unless the plan has its own. */
export const limits = {
  limits: {
    depth: setting("LIMIT_DEPTH", anyLimit, defaultLimits.depth, {
      doc: "Depth of an operation: fields within fields. A plan may have its own value of this and the following: `npx erp plan set full --limits '{\"cost\": 4000}'`.",
    }),
    relations: setting("LIMIT_RELATIONS", anyLimit, defaultLimits.relations, {
      doc: "Relations and lists of an operation, with those of fragments each time they are spread.",
    }),
    aliases: setting("LIMIT_ALIASES", anyLimit, defaultLimits.aliases, {
      doc: "Aliases in the GraphQL document.",
    }),
    directives: setting("LIMIT_DIRECTIVES", anyLimit, defaultLimits.directives, {
      doc: "Directives of an operation.",
    }),
    tokens: setting("LIMIT_TOKENS", anyLimit, defaultLimits.tokens, {
      doc: "Tokens of the GraphQL document.",
    }),
    mutations: setting("LIMIT_MUTATIONS", anyLimit, defaultLimits.mutations, {
      doc: "Mutations of an operation.",
    }),
    cost: setting("LIMIT_COST", anyLimit, defaultLimits.cost, {
      doc: "Points of an operation (docs/reference/limits.md).",
    }),
    bucket: setting("LIMIT_BUCKET", anyLimit, defaultLimits.bucket, {
      doc: "Points that an API token can spend in a row.",
    }),
    refill: setting("LIMIT_REFILL", anyLimit, defaultLimits.refill, {
      doc: "Points that flow back per second.",
    }),
  },
  maxBodyBytes: setting("LIMIT_BODY_BYTES", anyLimit, 1_048_576, {
    doc: "Bytes of a GraphQL request's body.",
  }),
  tokenRequestsPerMinute: setting("LIMIT_TOKEN_REQUESTS", anyLimit, 20, {
    doc: "Access tokens that one client may request per minute, from one address.",
  }),
  maxConnections: setting("LIMIT_CONNECTIONS", anyLimit, 1_000, {
    doc: "Most connections of clients to one process. Beyond that, a new one closes an idle one. Fewer where the process may not open so many files.",
  }),
  sharedRates: setting(
    "RATE_LIMITS_IN",
    convert(oneOf("memory", "database"), (place) => place === "database"),
    "memory",
    {
      doc: "Where it is counted what clients take. With several processes, `memory` lets each give out as much.",
    },
  ),
};
