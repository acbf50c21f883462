import type { ReadRows } from "../postgres/pipeline/read-text.ts";
import type { StatementRun, SettingsStatement } from "../postgres/pipeline/transaction-settings.ts";
import { noteSharedRun } from "../postgres/pipeline/transaction-settings.ts";
import type { MutationResult } from "../graphql/mutation-outcome.ts";
import type { Statement } from "../reads/compilation.ts";

/** The columns that make up a payload. */
export type PayloadRow = (string | null)[];

/** A request to read a payload, with the rights and settings of its client. */
export interface PayloadRequest {
  client: string;
  settings: SettingsStatement;
  statement: Statement;
  /** Values of the statement's slots. */
  values: readonly unknown[];
  payload: MutationResult["payload"];
}

interface Waiting extends PayloadRequest {
  settle(row: PayloadRow | null): void;
}

/** Reads payloads of mutations that have run; returns null for payloads that can't be read. */
export class PayloadReader {
  readonly #readRows: ReadRows;
  /** Waiting requests. One statement reads all that have the same settings and values. */
  #requestsByKey = new Map<string, Waiting[]>();

  constructor(readRows: ReadRows) {
    this.#readRows = readRows;
  }

  /** Reads a payload. One statement reads all that are requested in the same tick with equal settings and values. */
  read(request: PayloadRequest): Promise<PayloadRow | null> {
    if (this.#requestsByKey.size === 0) queueMicrotask(() => this.#begin());
    const { settings, statement, values } = request;
    const key = JSON.stringify([statement.name, settings.text, settings.values, values]);
    return new Promise((settle) => {
      const waiting = { ...request, settle };
      const sameRequests = this.#requestsByKey.get(key);
      if (sameRequests) sameRequests.push(waiting);
      else this.#requestsByKey.set(key, [waiting]);
    });
  }

  #begin(): void {
    const waiting = this.#requestsByKey;
    this.#requestsByKey = new Map();
    for (const requests of waiting.values()) void this.#readAll(requests);
  }

  async #readAll(requests: readonly Waiting[]): Promise<void> {
    const [{ client, settings, statement, values }] = requests as [Waiting];
    const { text, name } = statement;
    const payloads = JSON.stringify(requests.map(({ payload }) => payload));
    const query = { text, name, values: [...values, payloads, ""] };
    const uses = requests.map((each) => each.settings.use);
    const use = settings.use && { ...settings.use, note: (ran: StatementRun) => noteSharedRun(ran, uses) };
    let rows: PayloadRow[] = [];
    try {
      rows = await this.#readRows(client, { ...settings, use }, query);
    } catch {
      if (requests.length > 1) return requests.forEach((each) => void this.#readAll([each]));
    }
    const byNumber = new Map(rows.map((row) => [Number(row.at(-1)), row]));
    requests.forEach(({ settle }, index) => settle(byNumber.get(index + 1) ?? null));
  }
}
