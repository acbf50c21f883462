import { defaultBulkLimits } from "../../bulk/bulk-limits.ts";
import { anyLimit } from "./limit-settings.ts";
import { setting, wholeNumber } from "./setting.ts";

const bytes = wholeNumber(1, Number.MAX_SAFE_INTEGER);

/** Settings of bulk operations. */
export const bulk = {
  bulkConcurrency: setting("BULK_CONCURRENCY", wholeNumber(0, 100), 1, {
    doc: "The number of bulk operations that this process runs at a time, each with two connections to Postgres. 0 leaves them to other processes. With MERCHANTS, each merchant has one at a time, and all together at most a sixteenth of MERCHANT_CONNECTIONS.",
  }),
  bulkLimits: {
    atOnce: setting("BULK_AT_ONCE", wholeNumber(1, 100), defaultBulkLimits.atOnce, {
      doc: "The number of bulk operations that all processes together run at a time. An API credential has one at a time.",
    }),
    maxRows: setting("BULK_ROWS", anyLimit, defaultBulkLimits.maxRows, {
      doc: "The maximum number of rows in an uploaded file.",
    }),
    maxBytes: setting("BULK_BYTES", bytes, defaultBulkLimits.maxBytes, {
      doc: "The maximum size of an uploaded file in bytes, decompressed.",
    }),
    maxStoredBytes: setting("BULK_STORED_BYTES", bytes, defaultBulkLimits.maxStoredBytes, {
      doc: "The maximum size of the files of all bulk operations in the database, in bytes, compressed. Beyond that, uploads are refused until earlier files are imported or deleted.",
    }),
  },
};
