/** A position in Postgres' log of changes (an LSN): a standby that has replayed it knows all that was committed before. */
export type Position = bigint;

/** Behind something that was written nobody knows where: only the primary surely shows it. */
export const unknownPosition: Position = 0xffff_ffff_ffff_ffffn;

const form = /^([0-9a-f]{1,8})\/([0-9a-f]{1,8})$/i;

/** Reads a position as Postgres writes it: `0/16B3748`. Null when it is none. */
export function parsePosition(text: string): Position | null {
  const [, high, low] = form.exec(text) ?? [];
  return high === undefined ? null : (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** A position as Postgres writes it. */
export function textOfPosition(position: Position): string {
  const hex = (part: bigint) => part.toString(16).toUpperCase();
  return `${hex(position >> 32n)}/${hex(position & 0xffff_ffffn)}`;
}

/** A position, and the timeline of the primary in hexadecimal digits: after a failover positions mean other things. */
export type Present = readonly [position: string, timeline: string];

/**
 * The statement that asks the primary for the position after all that was committed, and its timeline. What is committed has
 * been flushed, unless that was switched off; other transactions may have inserted more since, for which nobody has to wait.
 */
export const positionStatement = {
  text: `select case current_setting('synchronous_commit')
    when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end::text,
    left(pg_walfile_name(pg_current_wal_flush_lsn()), 8)`,
  name: "position",
  values: [] as unknown[],
  arrayMode: true,
};
