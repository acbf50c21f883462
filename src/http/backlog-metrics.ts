import type { Registry } from "prom-client";
import type { Backlog, ReadBacklog } from "../jobs/backlog.ts";
import { settlesWithin } from "../lib/within.ts";
import { addGauge } from "./tallies.ts";

/** Milliseconds for which a backlog that was read is reported again. */
const cacheMs = 5_000;
/** Milliseconds for reading it: a database that doesn't respond must not delay the other metrics, which are needed then. */
const readTimeoutMs = 2_000;

/** A metric: one value, or one for each value of a label. */
interface BacklogMetric {
  name: string;
  help: string;
  label?: string;
  values: (found: Backlog) => number | Record<string, number>;
}

const backlogMetrics: readonly BacklogMetric[] = [
  {
    name: "service_outbox_events",
    help: "Committed changes that have no event number yet; 10,001 means more than 10,000.",
    values: ({ outbox }) => outbox,
  },
  {
    name: "service_outbox_lag_seconds",
    help: "How long the oldest of these changes has been waiting.",
    values: ({ outboxSeconds }) => outboxSeconds,
  },
  {
    name: "service_webhook_backlog",
    help: "Webhook deliveries that are waiting, of enabled subscriptions.",
    values: ({ deliveries }) => deliveries,
  },
  {
    name: "service_webhook_lag_seconds",
    help: "How long the oldest delivery to a healthy subscription has been due.",
    values: ({ deliverySeconds }) => deliverySeconds,
  },
  {
    name: "service_webhook_subscriptions",
    help: "Webhook subscriptions, by health; disabled ones as DISABLED.",
    label: "health",
    values: ({ subscriptions }) => subscriptions,
  },
  {
    name: "service_jobs",
    help: "Background jobs: due, running, due later, and failed for good; 10,001 means more than 10,000.",
    label: "state",
    values: ({ jobs }) => jobs,
  },
  {
    name: "service_jobs_lag_seconds",
    help: "How long the oldest job has been due.",
    values: ({ jobSeconds }) => jobSeconds,
  },
  {
    name: "service_shipping_label_backlog",
    help: "Calls about shipping labels that carriers have not answered; 10,001 means more than 10,000.",
    values: ({ labels }) => labels,
  },
  {
    name: "service_shipping_label_lag_seconds",
    help: "How long the oldest of these calls has been waiting.",
    values: ({ labelSeconds }) => labelSeconds,
  },
];

/** Adds metrics of the backlog in the database: read at most once per scrape, and missing while it can't be read. */
export function watchBacklog(registry: Registry, read: ReadBacklog): void {
  let reading: Promise<Backlog | null> = Promise.resolve(null);
  let readAt = -Infinity;
  const backlog = () => {
    if (performance.now() - readAt < cacheMs) return reading;
    readAt = performance.now();
    const found = read().catch(() => null);
    return (reading = settlesWithin(readTimeoutMs, found).then((isRead) => (isRead ? found : null)));
  };
  for (const { name, help, label, values } of backlogMetrics) {
    const readValues = async () => {
      const found = await backlog();
      if (found === null) return [];
      const value = values(found);
      if (typeof value === "number") return [[{}, value]] as const;
      return Object.entries(value).map(([key, count]) => [{ [label!]: key }, count] as const);
    };
    // Several processes read the same values
    addGauge(registry, name, help, label === undefined ? [] : [label], readValues, "max");
  }
}
