import { optional, setting, wholeNumber } from "./setting.ts";

const longest = 36_500;
const days = (least: number) => wholeNumber(least, longest);

/**
 * Retention periods in days. Clients rely on each minimum, so the database functions that delete rows enforce it too
 * (`events.lifetime`, for example): no process deletes too early.
 */
export const retention = {
  keep: {
    events: setting("KEEP_EVENTS", days(30), 30, {
      doc: "The number of days for which events and webhook deliveries are kept. Subscribers are promised 30.",
    }),
    webhookAttempts: setting("KEEP_WEBHOOK_ATTEMPTS", days(7), 30, {
      doc: "The number of days for which attempts to send a webhook are kept, with headers and responses. They are never kept longer than the event.",
    }),
    idempotencyKeys: setting("KEEP_IDEMPOTENCY_KEYS", days(1), 1, {
      doc: "The number of days for which an idempotency key is remembered. Clients are promised one. Behind PgBouncer the setting has no effect: use `alter database … set service.keep_idempotency_keys = 'P3D'`.",
    }),
    bulkResults: setting("KEEP_BULK_RESULTS", days(7), 7, {
      doc: "The number of days for which a finished bulk operation and its files are kept. Clients are promised seven. A change applies to operations that finish after it.",
    }),
    useCounts: setting("KEEP_USE_COUNTS", days(90), 400, {
      doc: "The number of days for which usage counts are kept, by API credential, version and field. `npx erp db check` reads the last 90.",
    }),
    labelFiles: setting("KEEP_LABEL_FILES", days(7), 90, {
      doc: "The number of days for which files of shipping labels are kept. The labels stay.",
    }),
    audit: optional("KEEP_AUDIT", days(365), {
      example: "1095",
      doc: "The number of days for which the administration's audit log is kept. Without it, it is kept for ever.",
    }),
  },
};
