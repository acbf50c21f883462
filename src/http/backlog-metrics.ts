import type { Registry } from "prom-client";
import type { Backlog, ReadBacklog } from "../jobs/backlog.ts";
import { within } from "../lib/within.ts";
import { gaugeOf } from "./tallies.ts";

/** Milliseconds for which what was read is shown again. */
const keptMs = 5_000;
/** Milliseconds in which it is read: a database that is silent must not hold up the other figures, which are wanted then. */
const readMs = 2_000;

/** A figure, or several by a label. */
interface Figure {
  name: string;
  help: string;
  label?: string;
  values: (found: Backlog) => number | Record<string, number>;
}

const figures: readonly Figure[] = [
  {
    name: "service_outbox_events",
    help: "Committed changes that aren't numbered as events yet; 10,001 for all beyond.",
    values: ({ outbox }) => outbox,
  },
  {
    name: "service_outbox_lag_seconds",
    help: "How long the oldest of these waits.",
    values: ({ outboxSeconds }) => outboxSeconds,
  },
  {
    name: "service_webhook_backlog",
    help: "Messages that wait to be delivered, of enabled subscriptions.",
    values: ({ deliveries }) => deliveries,
  },
  {
    name: "service_webhook_lag_seconds",
    help: "How long the oldest message is due that could be delivered to a healthy subscription.",
    values: ({ deliverySeconds }) => deliverySeconds,
  },
  {
    name: "service_webhook_subscriptions",
    help: "Webhook subscriptions, by their health, or DISABLED.",
    label: "health",
    values: ({ subscriptions }) => subscriptions,
  },
  {
    name: "service_jobs",
    help: "Jobs of background work: due, running, later, and failed for good; 10,001 for all beyond.",
    label: "state",
    values: ({ jobs }) => jobs,
  },
  {
    name: "service_jobs_lag_seconds",
    help: "How long the oldest job is due.",
    values: ({ jobSeconds }) => jobSeconds,
  },
];

/** Shows what waits in the database: read once for each scrape at most, and missing while it can't be read. */
export function watchBacklog(registry: Registry, read: ReadBacklog): void {
  let reading: Promise<Backlog | null> = Promise.resolve(null);
  let readAt = -Infinity;
  const backlog = () => {
    if (performance.now() - readAt < keptMs) return reading;
    readAt = performance.now();
    const found = read().catch(() => null);
    return (reading = within(readMs, found).then((isRead) => (isRead ? found : null)));
  };
  for (const { name, help, label, values } of figures) {
    const shown = async () => {
      const found = await backlog();
      if (found === null) return [];
      const value = values(found);
      if (typeof value === "number") return [[{}, value]] as const;
      return Object.entries(value).map(([key, count]) => [{ [label!]: key }, count] as const);
    };
    // Several processes see the same
    gaugeOf(registry, name, help, label === undefined ? [] : [label], shown, "max");
  }
}
