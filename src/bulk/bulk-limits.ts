/** Default limits of bulk operations. docs/reference/settings.md explains them to operators. */
export const defaultBulkLimits = {
  /** Most concurrent bulk operations, of all processes together. */
  atOnce: 2,
  /** Most rows of a file. */
  maxRows: 1_000_000,
  /** Most bytes of a file, decompressed. */
  maxBytes: 2_147_483_648,
  /** Most bytes of all files in the database, compressed. */
  maxStoredBytes: 4_294_967_296,
};

export type BulkLimits = typeof defaultBulkLimits;
