/** Limits of bulk operations, unless settings differ. docs/reference/settings.md explains each to operators. */
export const defaultBulkLimits = {
  /** Bulk operations that all processes together work on at a time. */
  atOnce: 2,
  /** Rows of a file. */
  maxRows: 1_000_000,
  /** Bytes of a file, decompressed. */
  maxBytes: 2_147_483_648,
  /** Bytes of all files that are kept in the database, compressed. */
  maxStoredBytes: 4_294_967_296,
};

export type BulkLimits = typeof defaultBulkLimits;
