/** Limits of webhooks, unless settings differ. docs/reference/settings.md explains each to operators. */
export const defaultWebhookLimits = {
  /** Subscriptions of one token. `events.count_subscriptions` has this and the next as well. */
  maxSubscriptionsPerToken: 100,
  /** All subscriptions, including those made by administrators. */
  maxSubscriptions: 1_000,
  /** Most points that a payloadQuery may cost. */
  maxQueryCost: 200,
  /** Milliseconds that a payloadQuery may take. */
  queryTimeoutMs: 2_000,
  /** Connections of a process for payload queries. */
  queryConnections: 2,
};

export type WebhookLimits = typeof defaultWebhookLimits;

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
