/** A statement that is done, or has failed. */
export interface Ran {
  text: string;
  ms: number;
  rows: number;
  error?: Error | null;
  /** Uses that it was sent for together, if there are others. */
  sharedBy?: number;
}

/** What statements are sent for. */
export interface StatementUse {
  /** The application_name of the transaction, in Postgres' views and log. */
  applicationName: string;
  /** Called when a statement is done, or has failed. */
  note(ran: Ran): void;
}

/** Notes a statement that was sent for several uses together. */
export function noteShared(ran: Ran, uses: readonly (StatementUse | undefined)[]): void {
  for (const use of uses) use?.note({ ...ran, sharedBy: uses.length });
}

/** Where settings say what their transaction is for. Symbols aren't sent, and copies have them, too. */
export const usedFor = Symbol("used for");

/** Settings of a transaction: role, scopes, locale and so on. */
export type PgSettings =
  | (Record<string, string | undefined> & { [usedFor]?: StatementUse | undefined })
  | null;

/** A statement that makes settings for its transaction, and returns no row. */
export interface SettingsStatement {
  text: string;
  values: string[];
  use?: StatementUse | undefined;
}

/** The statements, by how many settings they make; and those that check a standby. */
const texts: string[] = [];
const guardedTexts: string[] = [];

/** The statement for some settings; null when there are none. */
export function settingsStatement(settings: PgSettings): SettingsStatement | null {
  if (settings === null) return null;
  const values: string[] = [];
  for (const name in settings) {
    const value = settings[name];
    if (value !== undefined && value !== null) values.push(name, String(value));
  }
  if (values.length === 0) return null;
  const count = values.length / 2;
  return { text: (texts[count] ??= textFor(count)), values, use: settings[usedFor] };
}

function textFor(count: number, more = ""): string {
  const calls = Array.from({ length: count }, (_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, true)`);
  // Never true, so that no row is sent. `and` would stop before the last setting.
  return `select where concat(${calls.join(", ")}${more}) is null`;
}

/**
 * The same settings on a standby, if it has replayed all up to a position. Otherwise the statement fails with
 * invalid_text_representation, and what comes behind it is skipped: a check within the reading statement would come too
 * late, because that sees what had been replayed before.
 */
export function guardedSettings({ values, use }: SettingsStatement, position: string): SettingsStatement {
  const count = values.length / 2;
  const text = (guardedTexts[count] ??= textFor(count, guard(values.length + 1)));
  return { text, values: [...values, position], use };
}

// The text that fails to be a boolean appears in the standby's log
const guard = (parameter: number) => `, case
    when pg_is_in_recovery() and pg_last_wal_replay_lsn() >= $${parameter}::text::pg_lsn then true
    else concat('not yet replayed: ', $${parameter}::text)::boolean end`;

/** The same settings for a use. @param settings its last one is application_name */
export const settingsFor = ({ text, values }: SettingsStatement, use: StatementUse): SettingsStatement => ({
  text,
  values: values.with(-1, use.applicationName),
  use,
});
