import { defaultWebhookPorts } from "../../webhooks/addresses.ts";
import { defaultWebhookLimits } from "../../webhooks/limits.ts";
import { anyLimit } from "./limits.ts";
import { destinations, ports, seconds, setting, wholeNumber } from "./setting.ts";

/** Sending webhooks, and their limits. */
export const webhooks = {
  webhookConcurrency: setting("WEBHOOK_CONCURRENCY", wholeNumber(0, 500), 20, {
    doc: "Webhooks that this process sends at a time, at most a quarter of them to one subscriber and three quarters to those of one token. It holds four connections to Postgres for them, and those of WEBHOOK_QUERY_CONNECTIONS. 0 leaves them to other processes.",
  }),
  webhookAllow: setting("WEBHOOK_ALLOW", destinations, "", {
    example: "127.0.0.1/32,localhost",
    doc: "Webhooks are only sent to the public internet. Names of hosts, addresses and ranges of addresses that are allowed beside it, such as those of a receiver on a developer's own machine.",
  }),
  webhookPorts: setting("WEBHOOK_PORTS", ports, defaultWebhookPorts.join(), {
    doc: "Ports of the public internet that webhooks are sent to. What WEBHOOK_ALLOW names may have any port.",
  }),
  webhookLimits: {
    queryConnections: setting(
      "WEBHOOK_QUERY_CONNECTIONS",
      wholeNumber(1, 100),
      defaultWebhookLimits.queryConnections,
      {
        doc: "Connections to Postgres for the payload queries of webhooks alone. One token has half of them at most.",
      },
    ),
    queryTimeoutMs: setting("WEBHOOK_QUERY_TIMEOUT", seconds(), defaultWebhookLimits.queryTimeoutMs / 1000, {
      doc: "How long one payload query is worked on.",
    }),
    maxQueryCost: setting("WEBHOOK_QUERY_COST", anyLimit, defaultWebhookLimits.maxQueryCost, {
      doc: "Points that a payload query may cost. It is run for each event.",
    }),
    maxSubscriptionsPerToken: setting(
      "WEBHOOK_SUBSCRIPTIONS_PER_TOKEN",
      anyLimit,
      defaultWebhookLimits.maxSubscriptionsPerToken,
      {
        doc: "How many webhook subscriptions one token may have. The database counts them; for those written by SQL, `alter database … set service.max_subscriptions_per_token = 100`.",
      },
    ),
    maxSubscriptions: setting("WEBHOOK_SUBSCRIPTIONS", anyLimit, defaultWebhookLimits.maxSubscriptions, {
      doc: "How many webhook subscriptions there may be in all; for those written by SQL, `service.max_subscriptions`.",
    }),
  },
};
