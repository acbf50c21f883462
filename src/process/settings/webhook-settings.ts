import { defaultWebhookPorts } from "../../webhooks/addresses.ts";
import { defaultWebhookLimits } from "../../webhooks/webhook-limits.ts";
import { anyLimit } from "./limit-settings.ts";
import { destinations, ports, seconds, setting, wholeNumber } from "./setting.ts";

/** Settings of webhooks. */
export const webhooks = {
  webhookConcurrency: setting("WEBHOOK_CONCURRENCY", wholeNumber(0, 500), 20, {
    doc: "The number of webhooks that this process sends at a time. One receiver gets at most a quarter of them, the receivers of one API credential three quarters. Webhooks use four connections to Postgres, besides WEBHOOK_QUERY_CONNECTIONS. 0 leaves webhooks to other processes. With MERCHANTS, all merchants share the number.",
  }),
  webhookAllow: setting("WEBHOOK_ALLOW", destinations, "", {
    example: "127.0.0.1/32,localhost",
    doc: "Host names, addresses and ranges outside the public internet that webhooks may be sent to, such as a receiver on a developer's machine.",
  }),
  webhookPorts: setting("WEBHOOK_PORTS", ports, defaultWebhookPorts.join(), {
    doc: "The ports to which webhooks may be sent on the public internet. Destinations in WEBHOOK_ALLOW may use any port.",
  }),
  webhookLimits: {
    queryConnections: setting(
      "WEBHOOK_QUERY_CONNECTIONS",
      wholeNumber(1, 100),
      defaultWebhookLimits.queryConnections,
      {
        doc: "The number of connections to Postgres for payload queries of webhooks. One API credential uses at most half of them.",
      },
    ),
    queryTimeoutMs: setting("WEBHOOK_QUERY_TIMEOUT", seconds(), defaultWebhookLimits.queryTimeoutMs / 1000, {
      doc: "The time limit of a payload query.",
    }),
    maxQueryCost: setting("WEBHOOK_QUERY_COST", anyLimit, defaultWebhookLimits.maxQueryCost, {
      doc: "The maximum cost of a payload query, in points. The query runs for each event.",
    }),
    maxSubscriptionsPerToken: setting(
      "WEBHOOK_SUBSCRIPTIONS_PER_TOKEN",
      anyLimit,
      defaultWebhookLimits.maxSubscriptionsPerToken,
      {
        doc: "The maximum number of webhook subscriptions of one API credential. For subscriptions written by SQL, use `alter database … set service.max_subscriptions_per_token = 100`.",
      },
    ),
    maxSubscriptions: setting("WEBHOOK_SUBSCRIPTIONS", anyLimit, defaultWebhookLimits.maxSubscriptions, {
      doc: "The maximum number of webhook subscriptions in total. For subscriptions written by SQL, set `service.max_subscriptions`.",
    }),
  },
};
