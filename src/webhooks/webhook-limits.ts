/** Default limits of webhooks. docs/reference/settings.md explains them to operators. */
export const defaultWebhookLimits = {
  /** Most subscriptions of one API credential. `events.count_subscriptions` has this and the next default as well. */
  maxSubscriptionsPerToken: 100,
  /** Most subscriptions in total, including those that administrators created. */
  maxSubscriptions: 1_000,
  /** Most points that a payloadQuery may cost. */
  maxQueryCost: 200,
  /** Milliseconds that a payloadQuery may take. */
  queryTimeoutMs: 2_000,
  /** Connections per process for payload queries. */
  queryConnections: 2,
};

export type WebhookLimits = typeof defaultWebhookLimits;

/** Returns the transaction settings by which triggers check the allowed destinations and the first two limits. */
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
