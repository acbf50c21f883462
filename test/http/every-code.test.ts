import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { errorCodes } from "../../src/errors/api-error.ts";
import type { ErrorCode } from "../../src/errors/api-error.ts";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { upload } from "../bulk/support.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { query, read, startService } from "../lib/service.ts";
import type { HttpAnswer, TestService } from "../lib/service.ts";

// Every documented code can occur, with its documented status
let service: TestService;
let token: string;
before(async () => {
  service = await startService();
  token = await service.token({ write: "all" });
});
after(() => service.close());

const ask = (document: string) => service.ask(token, { query: document });
const create = 'mutation { warehouseCreate(input: { name: "A", code: "A" }) { userErrors { code } } }';

/** Sends a request while something happens at each insertion of a warehouse. */
async function whileInserting(statement: string, timeout = 15_000): Promise<HttpAnswer> {
  const { owner } = service;
  await owner.query(`
    create function erp.on_insert() returns trigger language plpgsql set search_path = pg_catalog, pg_temp
      as $$ begin ${statement}; return new; end $$;
    create trigger on_insert before insert on erp.warehouse for each row execute function erp.on_insert();
  `);
  try {
    const process = await service.another({
      settings: { timeoutsMs: { statement: 5_000, lock: 3_000, mutation: timeout } },
    });
    return await process.ask(token, { query: create });
  } finally {
    await owner.query("drop function erp.on_insert cascade");
  }
}

/** Opens the file of a label that was deleted for this reason. */
async function openDeleted(code: ErrorCode): Promise<HttpAnswer> {
  const { rows } = await service.owner.query(
    `with label as (insert into erp.shipping_label (carrier_technical_name) values ('dhl') returning id)
     insert into erp.shipping_label_file (shipping_label_id, code, content_type, deleted_because)
     select id, repeat('c', 32), 'application/pdf', $1 from label
     returning '/api/_action/document/' || shipping_label_id || '/' || code as url`,
    [code],
  );
  return read(await fetch(new URL(rows[0].url, service.url)));
}

const provocations: Record<ErrorCode, () => Promise<HttpAnswer>> = {
  UNAUTHENTICATED: () => service.ask(null, { query }),
  async UNAUTHORIZED() {
    const credentials = await service.credential();
    const stopped = await service.tokenFor(credentials);
    await service.owner.query("select auth.deactivate_credential($1)", [credentials.id]);
    return service.ask(stopped, { query });
  },
  FORBIDDEN: async () => service.ask(await service.token({ read: ["tags"] }), { query }),
  GRAPHQL_PARSE_FAILED: () => ask("{"),
  GRAPHQL_VALIDATION_FAILED: () => ask("{ nope }"),
  BAD_USER_INPUT: () =>
    ask('{ country(id: "x") { id } products(filter: { id: { equals: "x" } }) { edges { cursor } } }'),
  async IDEMPOTENCY_KEY_MISMATCH() {
    const loader = await service.token({ write: "all" });
    const headers = { "idempotency-key": "file" };
    await upload(service, loader, "products", "{}", { headers });
    return upload(service, loader, "products", "[]", { headers });
  },
  LABEL_CANCELLED: () => openDeleted("LABEL_CANCELLED"),
  FILE_EXPIRED: () => openDeleted("FILE_EXPIRED"),
  FILE_ERASED: () => openDeleted("FILE_ERASED"),
  PERSISTED_QUERY_NOT_FOUND: () =>
    service.ask(token, { extensions: { persistedQuery: { version: 1, sha256Hash: "0".repeat(64) } } }),
  CURSOR_INVALID: () => ask('{ countrys(after: "x") { edges { cursor } } }'),
  PAGE_SIZE_EXCEEDED: () => ask("{ countrys(first: 251) { edges { cursor } } }"),
  async SEARCH_TOO_BROAD() {
    await service.owner.query(
      "insert into erp.supplier (number, name) select 'S' || n, 'Broad' from generate_series(1, 10001) n",
    );
    return ask('{ suppliers(search: "broad") { edges { cursor } } }');
  },
  AGGREGATE_TOO_BROAD: async () => {
    await service.owner.query(
      "alter table erp.fulfillment disable trigger user; drop index erp.fulfillment_search_idx; insert into erp.fulfillment (number, state) select 'F' || n, 'Fulfilled' from generate_series(1, 100001) n",
    );
    return ask("{ fulfillments { aggregates { count } } }");
  },
  async AS_OF_TOO_LATE() {
    await service.owner.query("insert into erp.product (product_number, name) values ('P', 'Past')");
    return ask(
      '{ products(first: 1) { edges { node { physicalStockAsOf(moment: "2999-01-01T00:00:00Z") } } } }',
    );
  },
  QUERY_TOO_DEEP: () => ask(`{ ${"a { ".repeat(30)} b ${"}".repeat(30)} }`),
  QUERY_TOO_COMPLEX: () => ask(`{ ${"__typename ".repeat(5_000)} }`),
  async THROTTLED() {
    const small = await service.another({ settings: { limits: { ...defaultLimits, bucket: 1, refill: 1 } } });
    return small.ask(token, { query });
  },
  QUERY_TIMEOUT: () => whileInserting("perform pg_sleep(5)", 100),
  CONFLICT_RETRY: () => whileInserting("raise exception 'No' using errcode = '40001'"),
  async SERVICE_UNAVAILABLE() {
    const proxy = await openCuttableProxy(service.loginUrl);
    const process = await service.another({ loginUrl: proxy.url });
    proxy.cut();
    const answer = await process.ask(token, { query });
    await proxy.close();
    return answer;
  },
  PAYLOAD_UNAVAILABLE: () =>
    ask(`mutation { warehouseCreate(input: { name: "B", code: "B" }) {
      warehouse { stocks(after: "x") { edges { cursor } } } } }`),
  INTERNAL_SERVER_ERROR: () => whileInserting("raise exception 'No'"),
};

for (const [code, provoke] of Object.entries(provocations)) {
  const { retryable, status } = errorCodes[code as ErrorCode];
  test(`${code} can be met`, async () => {
    const answer = await provoke();
    assert.deepEqual([...new Set(answer.codes)], [code], answer.text);
    assert.ok(status.split(/\D+/).includes(String(answer.status)), `${answer.status}, not ${status}`);
    assert.equal(answer.body.errors[0].extensions.retryable, retryable);
  });
}
