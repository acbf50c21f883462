import { defaultBulkLimits } from "../../bulk/bulk-limits.ts";
import { anyLimit } from "./limit-settings.ts";
import { setting, wholeNumber } from "./setting.ts";

const bytes = wholeNumber(1, Number.MAX_SAFE_INTEGER);

/** Bulk operations, and their limits. */
export const bulk = {
  bulkConcurrency: setting("BULK_CONCURRENCY", wholeNumber(0, 100), 1, {
    doc: "Bulk operations that this process works on at a time, each with two connections to Postgres. 0 leaves them to other processes. With MERCHANTS it is one of each merchant, and a sixteenth of MERCHANT_CONNECTIONS of all.",
  }),
  bulkLimits: {
    atOnce: setting("BULK_AT_ONCE", wholeNumber(1, 100), defaultBulkLimits.atOnce, {
      doc: "Bulk operations that all processes together work on at a time; of each token, it is one.",
    }),
    maxRows: setting("BULK_ROWS", anyLimit, defaultBulkLimits.maxRows, {
      doc: "Most rows of an uploaded file.",
    }),
    maxBytes: setting("BULK_BYTES", bytes, defaultBulkLimits.maxBytes, {
      doc: "Most bytes of an uploaded file, decompressed.",
    }),
    maxStoredBytes: setting("BULK_STORED_BYTES", bytes, defaultBulkLimits.maxStoredBytes, {
      doc: "Most bytes that the files of all bulk operations take in the database, compressed. Beyond that, uploads are refused until others have ended.",
    }),
  },
};
