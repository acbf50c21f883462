import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "node:test";
import type { QueryResultRow } from "pg";
import { queryRows } from "../lib/database.ts";
import { gid } from "../lib/ids.ts";
import { assertProof } from "../lib/proof.ts";
import { startService } from "../lib/service.ts";
import type { HttpAnswer, AskOptions, ServiceOptions, TestService } from "../lib/service.ts";

/** The answer of a mutation: its own fields, and user errors. */
export interface Payload {
  userErrors: { code: string; message: string; field: string[] | null; details: any }[];
  [field: string]: any;
}

export interface BenchMutateOptions extends AskOptions {
  token?: string;
}

/** A service on a database with two warehouses and a product, the same before each test. */
export interface Bench {
  service: TestService;
  /** For reading and writing everything. */
  token: string;
  /** Global ids: `main` is the default for everything, `side` has the bin. */
  main: string;
  side: string;
  bin: string;
  product: string;
  /** Takes all rows out of some tables, and out of those that reference them. */
  empty(...tables: string[]): Promise<void>;
  /** SQL as the owner. */
  rows(text: string, values?: unknown[]): Promise<QueryResultRow[]>;
  /** Sends one mutation. */
  send(name: string, input: object, fields?: string, options?: BenchMutateOptions): Promise<HttpAnswer>;
  /** Sends one mutation that may have only user errors, and returns its payload. */
  mutate(name: string, input: object, fields?: string, options?: BenchMutateOptions): Promise<Payload>;
  /** Books units in a place, as clients do. */
  stock(place: object, delta: number): Promise<void>;
  /** Asserts that nothing that mutations write is changed. */
  unchanged<T>(work: () => Promise<T>): Promise<T>;
}

const scene = `
  insert into erp.warehouse (code, name, is_default, is_default_receiving)
    values ('MAIN', 'Main house', true, true), ('SIDE', 'Side house', false, false);
  insert into erp.location (name, warehouse_id) select name, id from erp.warehouse;
  insert into erp.bin_location (warehouse_id, code, position) select id, 'B-1', 10 from erp.warehouse where code = 'SIDE';
  insert into erp.product (product_number) values ('P-1');`;

const written = ["erp.warehouse", "erp.location", "erp.bin_location", "erp.product_warehouse_configuration"]
  .concat(["erp.product", "ledger.stock", "ledger.stock_movement", "mutation.idempotency_key"])
  .map(
    (table) => `select '${table}' as table, (select jsonb_agg(t order by t::text) from ${table} t) as rows`,
  )
  .join(" union all ");

/** After any test the books must be right. */
export function useBench(options: ServiceOptions = {}): Bench {
  const bench = {} as Bench;
  before(async () => {
    const service = await startService(options);
    const rows = queryRows(() => service.owner);
    const send: Bench["send"] = (name, input, fields = "", { token = bench.token, ...options } = {}) => {
      const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
      const query = `mutation ($input: ${type}) { ${name}(input: $input) { ${fields} userErrors { code message field details } } }`;
      return service.ask(token, { query, variables: { input } }, options);
    };
    const mutate: Bench["mutate"] = async (name, ...others) => {
      const { body, text } = await send(name, ...others);
      assert.equal(body.errors, undefined, text);
      return body.data[name];
    };
    Object.assign(bench, { service, rows, send, mutate, token: await service.token({ write: "all" }) });
    bench.empty = service.emptyTables;
    bench.stock = async (place, delta) => {
      const lines = [{ productId: bench.product, place, delta }];
      assert.deepEqual((await mutate("stockAdjust", { lines })).userErrors, []);
    };
    bench.unchanged = async (work) => {
      const earlier = await rows(written);
      const result = await work();
      assert.deepEqual(await rows(written), earlier);
      return result;
    };
  });
  beforeEach(async () => {
    await bench.empty("erp.warehouse", "erp.product", "mutation.idempotency_key");
    await bench.rows(scene);
    const [row] = await bench.rows(
      `select (select id from erp.warehouse where code = 'MAIN') as main, (select id from erp.warehouse where code = 'SIDE') as side,
         (select id from erp.bin_location) as bin, (select id from erp.product) as product`,
    );
    bench.main = gid("Warehouse", row!.main);
    bench.side = gid("Warehouse", row!.side);
    bench.bin = gid("BinLocation", row!.bin);
    bench.product = gid("Product", row!.product);
  });
  afterEach(async () => assertProof(bench.service.owner));
  after(() => bench.service.close());
  return bench;
}

/**
 * Asserts that a mutation was refused for one reason, with a message, and returned nothing else. Returns the details.
 */
export function assertRefused(payload: Payload, code: string, field: string[] | null): any {
  const { userErrors, ...others } = payload;
  assert.deepEqual(
    userErrors.map((error) => [error.code, error.field]),
    [[code, field]],
    JSON.stringify(userErrors),
  );
  assert.match(userErrors[0]!.message, /^[A-Z].*\.$/s);
  for (const value of Object.values(others)) assert.equal(value, null);
  return userErrors[0]!.details;
}
