/** A position in Postgres' write-ahead log (an LSN): a standby that has replayed it has all that was committed before. */
export type Position = bigint;

/** The position of a write at an unknown position: only the primary is sure to show it. */
export const unknownPosition: Position = 0xffff_ffff_ffff_ffffn;

const positionPattern = /^([0-9a-f]{1,8})\/([0-9a-f]{1,8})$/i;

/** Parses a position as Postgres writes it: `0/16B3748`. Returns null for other texts. */
export function parsePosition(text: string): Position | null {
  const [, high, low] = positionPattern.exec(text) ?? [];
  return high === undefined ? null : (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** Returns a position as Postgres writes it. */
export function formatPosition(position: Position): string {
  const hex = (part: bigint) => part.toString(16).toUpperCase();
  return `${hex(position >> 32n)}/${hex(position & 0xffff_ffffn)}`;
}

/** A position and the primary's timeline in hexadecimal digits. Positions of different timelines can't be compared. */
export type PrimaryPosition = readonly [position: string, timeline: string];

/**
 * The statement that reads from the primary its timeline and the position after all that is committed. Commits are flushed,
 * unless that is switched off. Other transactions may have inserted more since, for which no client has to wait.
 */
export const positionStatement = {
  text: `select case current_setting('synchronous_commit')
    when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end::text,
    left(pg_walfile_name(pg_current_wal_flush_lsn()), 8)`,
  name: "position",
  values: [] as unknown[],
  arrayMode: true,
};
