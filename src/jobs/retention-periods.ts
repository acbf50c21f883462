/** Returns the connection settings by which database functions know the retention periods. Without one, rows are kept forever. */
export function retentionSettings(
  kept: Readonly<Record<string, number | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(kept)
      .filter(([, days]) => days !== undefined)
      .map(([name, days]) => [
        `service.keep_${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
        // The value becomes part of a command line, so it has no spaces
        `P${days}D`,
      ]),
  );
}

/** A kind of data that is deleted by age. */
export interface RetentionRule {
  /** The name of its task. */
  task: string;
  /** Its name in messages. */
  what: string;
  /** An SQL call that deletes a batch and returns the number of rows: 0 if nothing is left. */
  prune: string;
  /** An SQL expression: days since the oldest row should have been deleted; null without rows. */
  overdueDays: string;
}

const daysSince = (end: string): string => `extract(epoch from now() - (${end})) / 86400`;

/** All data that is deleted by age. Each batch is small: it takes milliseconds and locks nothing that bookings need. */
export const retentionRules: readonly RetentionRule[] = [
  {
    task: "prune_events",
    what: "events",
    prune: "events.prune(500)",
    overdueDays: daysSince(
      "(select recorded_at from events.event order by sequence limit 1) + events.lifetime()",
    ),
  },
  {
    task: "prune_webhook_attempts",
    what: "attempts to send webhooks",
    prune: "events.prune_attempts(500)",
    overdueDays: daysSince(
      "(select at from events.delivery_attempt order by delivery_id, number limit 1) + events.attempt_lifetime()",
    ),
  },
  {
    task: "prune_idempotency_keys",
    what: "idempotency keys",
    prune: "mutation.prune_keys(500)",
    overdueDays: daysSince(
      "(select min(created_at) from mutation.idempotency_key) + mutation.key_lifetime()",
    ),
  },
  {
    task: "prune_bulk_operations",
    what: "bulk operations",
    prune: "bulk.prune()",
    overdueDays: daysSince("(select min(expires_at) from bulk.operation)"),
  },
  {
    task: "prune_use_counts",
    what: "counts of use",
    prune: "auth.prune_uses(1000)",
    overdueDays: daysSince(`(select min(o.day) from auth.credential c
      cross join lateral (select day from auth.credential_use u where u.credential_id = c.id order by day limit 1) o)
      + auth.use_lifetime()`),
  },
  {
    task: "prune_credentials",
    what: "ended tokens",
    prune: "auth.prune_credentials(100)",
    overdueDays: daysSince(`(select min(expires_at) from auth.credential c
      where not exists (select from events.webhook_subscription s where s.credential_id = c.id)) + auth.use_lifetime()`),
  },
  {
    task: "prune_operations",
    what: "operations that were sent",
    prune: "auth.prune_operations(2000)",
    overdueDays: daysSince("(select min(day) from auth.operation_use) + interval '14 days'"),
  },
  {
    task: "prune_label_files",
    what: "files of shipping labels",
    prune: "erp.prune_label_files(100)",
    overdueDays: daysSince(
      "(select min(created_at) from erp.shipping_label_file where deleted_because is null) + erp.label_file_lifetime()",
    ),
  },
  {
    task: "prune_audit",
    what: "events of the audit",
    prune: "auth.prune_audit(500)",
    overdueDays: daysSince(
      "(select happened_at from auth.audit_event order by id limit 1) + auth.audit_lifetime()",
    ),
  },
];
