/** Limits of bulk operations. docs/reference/settings.md explains each to operators. */
export interface BulkLimits {
  /** Bulk operations that all processes together work on at a time. */
  atOnce: number;
  /** Rows of a file. */
  maxRows: number;
  /** Bytes of a file, decompressed. */
  maxBytes: number;
  /** Bytes of all files that are kept in the database, compressed. */
  maxStoredBytes: number;
}

/** Limits that apply unless settings differ. */
export const defaultBulkLimits: BulkLimits = {
  atOnce: 2,
  maxRows: 1_000_000,
  maxBytes: 2_147_483_648,
  maxStoredBytes: 4_294_967_296,
};
