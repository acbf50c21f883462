import { utcDay } from "../lib/utc-day.ts";
import { PendingRows } from "./waiting-rows.ts";

/** The day on which an API credential last used a field of a version. */
interface FieldUseEntry {
  credential_id: string;
  version: string;
  field: string;
  /** In UTC, such as 2026-06-30. */
  day: string;
}

/** The maximum number of entries that wait while the database can't be reached. */
const maxWaiting = 20_000;

/** Notes on which day each API credential last used each field. It processes a list of fields once a day for each. */
export class FieldUse {
  readonly waiting = new PendingRows<FieldUseEntry>(
    "record_fields",
    maxWaiting,
    ({ credential_id, version, field }) => `${credential_id} ${version} ${field}`,
    (waiting, { day }) => {
      if (waiting.day < day) waiting.day = day;
    },
  );
  #day = "";
  /** For each list of fields, the users for whom it was noted today. A document always has the same list object. */
  #noted = new WeakMap<readonly string[], Set<string>>();

  /** Notes the use of fields. @param fields as Type.field */
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
