import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Backlog, ReadBacklog } from "../database/backlog.ts";

/** Milliseconds for which what was read is shown again. */
const keptMs = 5_000;

/** Shows what waits in the database: it is read once for each scrape at most, and missing while it can't be read. */
export function watchBacklog(registry: Registry, read: ReadBacklog): void {
  let reading: Promise<Backlog | null> = Promise.resolve(null);
  let readAt = -Infinity;
  const backlog = () => {
    if (performance.now() - readAt < keptMs) return reading;
    readAt = performance.now();
    return (reading = read().catch(() => null));
  };
  const show = (name: string, help: string, value: (found: Backlog) => number) =>
    new Gauge({
      ...{ name, help, registers: [registry], aggregator: "max" as const },
      async collect() {
        const found = await backlog();
        if (found) this.set(value(found));
        else this.remove();
      },
    });
  const showBy = (
    name: string,
    help: string,
    label: string,
    values: (found: Backlog) => Record<string, number>,
  ) =>
    new Gauge({
      ...{ name, help, registers: [registry], labelNames: [label], aggregator: "max" as const },
      async collect() {
        const found = await backlog();
        this.reset();
        for (const [key, value] of Object.entries(found ? values(found) : {}))
          this.set({ [label]: key }, value);
      },
    });
  show(
    "service_outbox_events",
    "Committed changes that aren't numbered as events yet; 10,001 for all beyond.",
    (found) => found.outbox,
  );
  show("service_outbox_lag_seconds", "How long the oldest of these waits.", (found) => found.outboxSeconds);
  show(
    "service_webhook_backlog",
    "Messages that wait to be delivered, of enabled subscriptions.",
    (found) => found.deliveries,
  );
  show(
    "service_webhook_lag_seconds",
    "How long the oldest message is due that could be delivered to a healthy subscription.",
    (found) => found.deliverySeconds,
  );
  showBy(
    "service_webhook_subscriptions",
    "Webhook subscriptions, by their health, or DISABLED.",
    "health",
    (found) => found.subscriptions,
  );
  showBy(
    "service_jobs",
    "Jobs of background work: due, running, later, and failed for good; 10,001 for all beyond.",
    "state",
    (found) => found.jobs,
  );
  show("service_jobs_lag_seconds", "How long the oldest job is due.", (found) => found.jobSeconds);
}
