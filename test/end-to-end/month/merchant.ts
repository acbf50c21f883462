import assert from "node:assert/strict";
import { sequence } from "../../events/support.ts";
import { moveClock } from "../../lib/clock.ts";
import { Random } from "../../lib/random.ts";
import { startService } from "../../lib/service.ts";
import type { TestService } from "../../lib/service.ts";
import { Accounts } from "./accounts.ts";

/** Rows that no call of the API makes: currencies, countries, and the numbers of documents. */
const rows = `
  insert into erp.currency (iso_code, symbol, name, short_name, factor, is_default_currency) values
    ('EUR', '€', '{"en-GB":"Euro"}', '{"en-GB":"EUR"}', 1, true), ('USD', '$', '{"en-GB":"Dollar"}', '{"en-GB":"USD"}', 1.25, false),
    ('CHF', 'F', '{"en-GB":"Franc"}', '{"en-GB":"CHF"}', 0.93, false);
  insert into erp.country (iso_code, name) values ('FR', '{"en-GB":"France"}');
  insert into erp.number_range (technical_name, pattern) values ('supplier_order', 'PO-{n}'), ('goods_receipt', 'GR-{n}'),
    ('fulfillment', 'F-{n}'), ('fulfillment_order', 'FO-{n}'), ('return_order', 'R-{n}'), ('stocktake', 'ST-{n}'),
    ('pick_list', 'PL-{n}'), ('quote', 'Q-{n}'), ('order', 'SO-{n}')
    on conflict do nothing`;

export const nodes = (list: any): any[] => list.edges.map(({ node }: any) => node);

/** A merchant who calls the API, and keeps his own accounts beside it. */
export class Merchant {
  readonly service: TestService;
  readonly accounts = new Accounts();
  readonly random: Random;
  /** Global ids by the names that people use. */
  readonly id: Record<string, string> = {};
  /** How often each mutation was called. */
  readonly calls = new Map<string, number>();
  /** The token of a colleague who counts, because nobody approves the own counts. */
  readonly colleague: string;
  readonly #token: string;

  private constructor(service: TestService, [token, colleague]: [string, string], random: Random) {
    this.service = service;
    this.#token = token;
    this.colleague = colleague;
    this.random = random;
  }

  static async open(seed: number): Promise<Merchant> {
    const service = await startService();
    await service.owner.query(rows);
    const open = () => service.token({ read: "all", write: "all" });
    return new Merchant(service, [await open(), await open()], new Random(seed));
  }

  async read(query: string, variables: object = {}, token = this.#token): Promise<any> {
    const { body, text } = await this.service.ask(token, { query, variables });
    const cause = this.service.log.at(-1)?.err as { stack?: string } | undefined;
    assert.equal(body.errors, undefined, `${text}\n${cause?.stack ?? ""}`);
    return body.data;
  }

  /** Calls a mutation. Returns its payload, with refusals. */
  async try(name: string, input: object, select = "", token = this.#token): Promise<any> {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
    const query = `mutation ($input: ${type}!) { ${name}(input: $input) { ${select} userErrors { code message field } } }`;
    this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
    return (await this.read(query, { input }, token))[name];
  }

  /** Calls a mutation that must not be refused. */
  async call(name: string, input: object, select = "", token = this.#token): Promise<any> {
    const payload = await this.try(name, input, select, token);
    assert.deepEqual(payload.userErrors, [], `${name} ${JSON.stringify(input)}`);
    return payload;
  }

  place(name: string): object {
    if (name.startsWith("tote")) return { stockContainerId: this.id[name] };
    return name.includes("-") ? { binLocationId: this.id[name] } : { warehouseId: this.id[name] };
  }

  /** Lets the ledger's clock show a day before today. */
  async beginDay(daysAgo: number): Promise<void> {
    await moveClock(this.service.owner, daysAgo === 0 ? "0" : `-${daysAgo} days`);
  }
  async endDay(): Promise<void> {
    await sequence(this.service.owner);
  }

  some(most: number): number {
    return 1 + this.random.below(most);
  }
  close(): Promise<void> {
    return this.service.close();
  }
}
