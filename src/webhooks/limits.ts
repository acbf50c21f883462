/** How much webhooks may take. docs/settings.md explains each to operators. */
export interface WebhookLimits {
  /** Subscriptions of one token. */
  maxSubscriptionsPerToken: number;
  /** Subscriptions of all, those that administrators made included. */
  maxSubscriptions: number;
  /** Points that a payloadQuery may cost. */
  maxQueryCost: number;
  /** Milliseconds that a payloadQuery may take. */
  queryTimeoutMs: number;
  /** Connections that a process reads payload queries on. */
  queryConnections: number;
}

/** What holds unless settings say otherwise. `events.count_subscriptions` knows the first two as well. */
export const defaultWebhookLimits: WebhookLimits = {
  maxSubscriptionsPerToken: 100,
  maxSubscriptions: 1_000,
  maxQueryCost: 200,
  queryTimeoutMs: 2_000,
  queryConnections: 2,
};

/** What of it rules in the database read, for what is written. */
export function webhookSettings(
  allowed: readonly string[],
  { maxSubscriptionsPerToken, maxSubscriptions }: WebhookLimits,
): Record<string, string> {
  return {
    "service.webhook_allow": allowed.join(),
    "service.max_subscriptions_per_token": String(maxSubscriptionsPerToken),
    "service.max_subscriptions": String(maxSubscriptions),
  };
}
