import { utcDay } from "../lib/utc-day.ts";
import { WaitingRows } from "./waiting-rows.ts";

/** When a credential last used a field of a version. */
interface FieldUseEntry {
  credential_id: string;
  version: string;
  field: string;
  /** Of UTC, like 2026-06-30. */
  day: string;
}

/** Entries that wait at most while the database can't be reached. */
const maxWaiting = 20_000;

/** Notes on which day each credential last used each field. A list of fields is looked at once a day for each. */
export class FieldUse {
  readonly waiting = new WaitingRows<FieldUseEntry>(
    "record_fields",
    maxWaiting,
    ({ credential_id, version, field }) => `${credential_id} ${version} ${field}`,
    (waiting, { day }) => {
      if (waiting.day < day) waiting.day = day;
    },
  );
  #day = "";
  /** By list, which is the same object for the same document and goes with it, for whom it has been noted today. */
  #noted = new WeakMap<readonly string[], Set<string>>();

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
    this.waiting.add(fields.map((field) => ({ credential_id: credentialId, version, field, day })));
  }
}
