/** A statement that has run or failed. */
export interface StatementRun {
  text: string;
  ms: number;
  rows: number;
  error?: Error | null;
  /** The number of uses that it ran for, if there are several. */
  sharedBy?: number;
}

/** The purpose of statements, for Postgres' views and for statistics. */
export interface StatementUse {
  /** The application_name of the transaction, in Postgres' views and log. */
  applicationName: string;
  /** Called when a statement has run or failed. */
  note(ran: StatementRun): void;
}

/** Notes a statement that ran for several uses at once. */
export function noteSharedRun(ran: StatementRun, uses: readonly (StatementUse | undefined)[]): void {
  for (const use of uses) use?.note({ ...ran, sharedBy: uses.length });
}

/** The key of a transaction's use in its settings. Symbols aren't sent to Postgres, but copies keep them. */
export const useKey = Symbol("used for");

/** Settings of a transaction: role, scopes, locale and so on. */
export type PgSettings =
  | (Record<string, string | undefined> & { [useKey]?: StatementUse | undefined })
  | null;

/** A statement that applies settings to its transaction, and returns no row. */
export interface SettingsStatement {
  text: string;
  values: string[];
  use?: StatementUse | undefined;
}

/** The texts of these statements by their number of settings, also of the ones that check a standby. */
const texts: string[] = [];
const guardedTexts: string[] = [];

/** Returns the statement for some settings; null when there are none. */
export function settingsStatement(settings: PgSettings): SettingsStatement | null {
  if (settings === null) return null;
  const values: string[] = [];
  for (const name in settings) {
    const value = settings[name];
    if (value !== undefined && value !== null) values.push(name, String(value));
  }
  if (values.length === 0) return null;
  const count = values.length / 2;
  return { text: (texts[count] ??= buildText(count)), values, use: settings[useKey] };
}

function buildText(count: number, more = ""): string {
  const calls = Array.from({ length: count }, (_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, true)`);
  // Never true, so that no row is sent. `and` would stop before the last setting
  return `select where concat(${calls.join(", ")}${more}) is null`;
}

/**
 * Returns the same settings for a standby that must have replayed all up to a position. If it has not, the statement fails
 * with invalid_text_representation, and the reading statement after it is skipped. A check within the reading statement would
 * come too late, because its snapshot is older.
 */
export function guardedSettings({ values, use }: SettingsStatement, position: string): SettingsStatement {
  const count = values.length / 2;
  const text = (guardedTexts[count] ??= buildText(count, buildGuard(values.length + 1)));
  return { text, values: [...values, position], use };
}

// The text that isn't a boolean appears in the standby's log
const buildGuard = (parameter: number) => `, case
    when pg_is_in_recovery() and pg_last_wal_replay_lsn() >= $${parameter}::text::pg_lsn then true
    else concat('not yet replayed: ', $${parameter}::text)::boolean end`;

/** Returns the same settings for a use. @param settings the last one must be application_name */
export const settingsFor = ({ text, values }: SettingsStatement, use: StatementUse): SettingsStatement => ({
  text,
  values: values.with(-1, use.applicationName),
  use,
});
