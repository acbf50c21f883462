import { utcDay } from "../lib/utc-day.ts";

/** When a credential last used a field of a version. */
export interface FieldUseEntry {
  credential_id: string;
  version: string;
  field: string;
  /** Of UTC, like 2026-06-30. */
  day: string;
}

/** Entries that wait at most while the database can't be reached; what comes on top isn't noted. */
const maxWaiting = 20_000;

/** Notes on which day each credential last used each field. A list of fields is looked at once a day for each. */
export class FieldUse {
  #day = "";
  /** By list, which is the same object for the same document and goes with it, for whom it has been noted today. */
  #noted = new WeakMap<readonly string[], Set<string>>();
  #waiting = new Map<string, FieldUseEntry>();

  /** @param fields as Type.field */
  note(credentialId: string, version: string, fields: readonly string[], time = Date.now()): void {
    const day = utcDay(time);
    if (day !== this.#day) {
      this.#day = day;
      this.#noted = new WeakMap();
    }
    let users = this.#noted.get(fields);
    if (users === undefined) this.#noted.set(fields, (users = new Set()));
    const user = `${credentialId} ${version}`;
    if (users.has(user)) return;
    users.add(user);
    this.add(fields.map((field) => ({ credential_id: credentialId, version, field, day })));
  }

  /** What waits to be written, which is everybody's own from then on. */
  take(): FieldUseEntry[] {
    const entries = [...this.#waiting.values()];
    this.#waiting = new Map();
    return entries;
  }

  /** Has entries wait, also such as could not be written. */
  add(entries: readonly FieldUseEntry[]): void {
    for (const entry of entries) {
      const key = `${entry.credential_id} ${entry.version} ${entry.field}`;
      const present = this.#waiting.get(key);
      if (present === undefined && this.#waiting.size >= maxWaiting) continue;
      if (present === undefined || present.day < entry.day) this.#waiting.set(key, entry);
    }
  }
}
