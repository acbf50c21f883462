import type { ClientBase } from "pg";

/** What takes the place of a text in which a value was found. */
export const removed = "[removed]";

/** Characters of values that are looked for within longer texts. Shorter ones are only compared. */
const tellingLength = 6;

/** The personal values of a customer, to find where else they are. */
export class Values {
  readonly #all: ReadonlySet<string>;
  readonly #telling: readonly string[];

  /** @param all in lower case */
  constructor(all: readonly string[]) {
    this.#all = new Set(all);
    this.#telling = [...this.#all].filter((value) => value.length >= tellingLength);
  }

  static async of(client: ClientBase, customer: string): Promise<Values> {
    const { rows } = await client.query<{ value: string }>("select erp.personal_values($1) as value", [
      customer,
    ]);
    return new Values(rows.map(({ value }) => value));
  }

  /** Whether a text is one of them, or contains a telling one. */
  isIn(text: string): boolean {
    const lower = text.toLowerCase();
    return this.#all.has(lower) || this.#telling.some((value) => lower.includes(value));
  }

  /** The same JSON with other texts in the place of those that are, or contain, one of them. */
  without(json: unknown): unknown {
    if (typeof json === "string") return this.isIn(json) ? removed : json;
    if (Array.isArray(json)) return json.map((one) => this.without(one));
    if (typeof json !== "object" || json === null) return json;
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, this.without(value)]));
  }
}
