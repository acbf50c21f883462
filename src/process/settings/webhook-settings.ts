import { defaultWebhookPorts } from "../../webhooks/addresses.ts";
import { defaultWebhookLimits } from "../../webhooks/webhook-limits.ts";
import { anyLimit } from "./limit-settings.ts";
import { destinations, ports, seconds, setting, wholeNumber } from "./setting.ts";

/** Sending webhooks, and their limits. */
export const webhooks = {
  webhookConcurrency: setting("WEBHOOK_CONCURRENCY", wholeNumber(0, 500), 20, {
    doc: "Webhooks that this process sends at a time: at most a quarter of them to one subscriber and three quarters to those of one token. It uses four connections to Postgres for them, beside WEBHOOK_QUERY_CONNECTIONS. 0 leaves webhooks to other processes. With MERCHANTS, all merchants share them.",
  }),
  webhookAllow: setting("WEBHOOK_ALLOW", destinations, "", {
    example: "127.0.0.1/32,localhost",
    doc: "Host names, addresses and ranges that webhooks may be sent to beside the public internet, such as that of a receiver on a developer's machine.",
  }),
  webhookPorts: setting("WEBHOOK_PORTS", ports, defaultWebhookPorts.join(), {
    doc: "Ports of the public internet for webhooks. Destinations of WEBHOOK_ALLOW may have any port.",
  }),
  webhookLimits: {
    queryConnections: setting(
      "WEBHOOK_QUERY_CONNECTIONS",
      wholeNumber(1, 100),
      defaultWebhookLimits.queryConnections,
      {
        doc: "Connections to Postgres for payload queries of webhooks. One token uses half of them at most.",
      },
    ),
    queryTimeoutMs: setting("WEBHOOK_QUERY_TIMEOUT", seconds(), defaultWebhookLimits.queryTimeoutMs / 1000, {
      doc: "Time limit of a payload query.",
    }),
    maxQueryCost: setting("WEBHOOK_QUERY_COST", anyLimit, defaultWebhookLimits.maxQueryCost, {
      doc: "Points that a payload query may cost. It is run for each event.",
    }),
    maxSubscriptionsPerToken: setting(
      "WEBHOOK_SUBSCRIPTIONS_PER_TOKEN",
      anyLimit,
      defaultWebhookLimits.maxSubscriptionsPerToken,
      {
        doc: "Most webhook subscriptions of one token. The database counts them; for those written by SQL, `alter database … set service.max_subscriptions_per_token = 100`.",
      },
    ),
    maxSubscriptions: setting("WEBHOOK_SUBSCRIPTIONS", anyLimit, defaultWebhookLimits.maxSubscriptions, {
      doc: "Most webhook subscriptions in all; for those written by SQL, `service.max_subscriptions`.",
    }),
  },
};
