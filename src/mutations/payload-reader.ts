import type { ReadRows } from "../postgres/pipeline/read-text.ts";
import type { SettingsStatement, StatementUse } from "../postgres/pipeline/transaction-settings.ts";
import { noteShared } from "../postgres/pipeline/transaction-settings.ts";
import type { MutationResult } from "../graphql/mutation-outcome.ts";
import type { PayloadStatement } from "../reads/compile-payload.ts";

/** The columns that a payload is made of. */
export type PayloadRow = (string | null)[];

/** A payload to be read, with the rights and the settings of who asks for it. */
export interface PayloadRequest {
  client: string;
  settings: SettingsStatement;
  statement: PayloadStatement;
  /** Values of the statement's slots. */
  values: readonly unknown[];
  payload: MutationResult["payload"];
}

interface Waiting extends PayloadRequest {
  settle(row: PayloadRow | null): void;
}

/** Reads payloads of mutations that have been made; null for those that can't be read. */
export class PayloadReader {
  readonly #readRows: ReadRows;
  /** Those to be read by one statement, which has the same settings and values for all. */
  #alike = new Map<string, Waiting[]>();

  constructor(readRows: ReadRows) {
    this.#readRows = readRows;
  }

  /** Reads a payload, along with those like it that are asked for at the same moment, by one statement. */
  read(request: PayloadRequest): Promise<PayloadRow | null> {
    if (this.#alike.size === 0) queueMicrotask(() => this.#begin());
    const { settings, statement, values } = request;
    const key = JSON.stringify([statement.name, settings.text, settings.values, values]);
    return new Promise((settle) => {
      const waiting = { ...request, settle };
      const alike = this.#alike.get(key);
      if (alike) alike.push(waiting);
      else this.#alike.set(key, [waiting]);
    });
  }

  #begin(): void {
    const all = this.#alike;
    this.#alike = new Map();
    for (const alike of all.values()) void this.#readAll(alike);
  }

  async #readAll(alike: readonly Waiting[]): Promise<void> {
    const [{ client, settings, statement, values }] = alike as [Waiting];
    const { text, name } = statement;
    const payloads = JSON.stringify(alike.map(({ payload }) => payload));
    const given = { text, name, values: [...values, payloads, ""] };
    let rows: PayloadRow[] = [];
    try {
      rows = await this.#readRows(client, { ...settings, use: sharedUse(alike) }, given);
    } catch {
      if (alike.length > 1) return alike.forEach((each) => void this.#readAll([each]));
    }
    const byNumber = new Map(rows.map((row) => [Number(row.at(-1)), row]));
    alike.forEach(({ settle }, index) => settle(byNumber.get(index + 1) ?? null));
  }
}

/** The use of a statement that is sent for several. */
function sharedUse(alike: readonly Waiting[]): StatementUse | undefined {
  const { use } = alike[0]!.settings;
  return (
    use && {
      ...use,
      note: (ran) =>
        noteShared(
          ran,
          alike.map(({ settings }) => settings.use),
        ),
    }
  );
}
