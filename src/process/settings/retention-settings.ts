import { optional, setting, wholeNumber } from "./setting.ts";

const longest = 36_500;
const days = (least: number) => wholeNumber(least, longest);

/**
 * How many days things are kept. The least of each is what others rely on; the functions of the database that delete
 * have it as well (`events.lifetime` and its like), so that no process deletes what was promised.
 */
export const retention = {
  keep: {
    events: setting("KEEP_EVENTS", days(30), 30, {
      doc: "Days for which the log of events is kept, with the deliveries of webhooks. At least 30, which subscribers are promised.",
    }),
    webhookAttempts: setting("KEEP_WEBHOOK_ATTEMPTS", days(7), 30, {
      doc: "Days for which attempts to send a webhook are kept, with headers and answers; never longer than the event.",
    }),
    idempotencyKeys: setting("KEEP_IDEMPOTENCY_KEYS", days(1), 1, {
      doc: "Days for which an idempotency key stands for its mutation. Clients are promised one. Behind PgBouncer it is one, unless `alter database … set service.keep_idempotency_keys = 'P3D'`.",
    }),
    bulkResults: setting("KEEP_BULK_RESULTS", days(7), 7, {
      doc: "Days for which bulk operations and their files are kept after their end. Clients are promised seven. It holds for operations that end from then on.",
    }),
    useCounts: setting("KEEP_USE_COUNTS", days(90), 400, {
      doc: "Days for which it is kept how often, and with which fields, each token used each version. `npx erp db check` looks back on 90.",
    }),
    audit: optional("KEEP_AUDIT", days(365), {
      example: "1095",
      doc: "Days for which the audit of the administration is kept. Without it, for ever.",
    }),
  },
};
