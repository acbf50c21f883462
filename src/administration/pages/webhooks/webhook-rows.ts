import type { PoolClient } from "pg";
import { html } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { visibleText } from "../../formats.ts";
import { callForRow } from "../../visit.ts";

/** A subscription, as administration.webhook_subscriptions returns it. */
export interface Subscription {
  id: string;
  topic: string;
  url: string;
  api_version: string;
  fields: string[] | null;
  payload_query: string | null;
  /** Null if an administrator created it. */
  credential_id: string | null;
  /** Null if that API credential was deleted. */
  credential_name: string | null;
  enabled: boolean;
  health: "HEALTHY" | "DEGRADED" | "SUSPENDED" | "DISABLED";
  health_reason: string | null;
  backlog_count: string;
  last_delivered_at: Date | null;
  failing_since: Date | null;
  next_attempt_at: Date | null;
  created_at: Date;
}

/** A delivery in a list, as administration.webhook_deliveries returns it. */
export interface DeliveryLine {
  id: string;
  created_at: Date;
  topic: string;
  /** Null for a test. */
  subject_id: string | null;
  state: keyof typeof stateLabels;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
}

/** Returns a link to the page of a subscription. */
export const subscriptionLink = ({ id, topic, url }: Subscription) => ({
  title: `${topic} to ${hostText(url)}`,
  path: `/webhooks/${id}`,
});

/** Reads one subscription. */
export const readSubscription = (client: PoolClient, id: string): Promise<Subscription> =>
  callForRow(client, "webhook_subscriptions($1)", id);

/** Returns the host of an address. */
export function hostText(url: string): string {
  return visibleText(URL.canParse(url) ? new URL(url).host : url, 100);
}

const healthLabels = {
  HEALTHY: ["good", "Healthy"],
  DEGRADED: ["warning", "Degraded"],
  SUSPENDED: ["bad", "Suspended"],
  DISABLED: ["bad", "Disabled"],
} as const;

/** A badge with the health of a subscription. */
export function healthBadge({ health, last_delivered_at: delivered }: Subscription): Html {
  // Without any attempt a subscription is healthy, which says nothing about the receiver
  if (health === "HEALTHY" && delivered === null)
    return html`<span class="badge">Nothing delivered yet</span>`;
  const [kind, word] = healthLabels[health];
  return html`<span class="badge ${kind}">${word}</span>`;
}

const stateLabels = {
  pending: ["", "Waiting"],
  delivered: ["good", "Delivered"],
  failed: ["bad", "Given up"],
  cancelled: ["bad", "Cancelled"],
} as const;

/** A badge with the state of a delivery. */
export function stateBadge(state: keyof typeof stateLabels): Html {
  const [kind, word] = stateLabels[state];
  return html`<span class="badge ${kind}">${word}</span>`;
}

/** A link to the API credential that a subscription belongs to. */
export function ownerLink({ credential_id: id, credential_name: name }: Subscription): Html {
  if (id === null) return html`None (created by an administrator)`;
  return name === null ? html`Deleted` : html`<a href="/admin/tokens/${id}">${name}</a>`;
}
