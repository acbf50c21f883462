/** Limits of webhooks. docs/reference/settings.md explains each to operators. */
export interface WebhookLimits {
  /** Subscriptions of one token. */
  maxSubscriptionsPerToken: number;
  /** All subscriptions, including those made by administrators. */
  maxSubscriptions: number;
  /** Most points that a payloadQuery may cost. */
  maxQueryCost: number;
  /** Milliseconds that a payloadQuery may take. */
  queryTimeoutMs: number;
  /** Connections of a process for payload queries. */
  queryConnections: number;
}

/** The defaults. `events.count_subscriptions` has the first two as well. */
export const defaultWebhookLimits: WebhookLimits = {
  maxSubscriptionsPerToken: 100,
  maxSubscriptions: 1_000,
  maxQueryCost: 200,
  queryTimeoutMs: 2_000,
  queryConnections: 2,
};

/** Settings of transactions in which triggers check the first two. */
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
