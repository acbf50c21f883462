import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ended, startTestBulk } from "../bulk/support.ts";
import type { TestProcess, TestService } from "../lib/service.ts";
import { startService } from "../lib/service.ts";

// Answers that would be longer than the service keeps in memory.
const query = "query ($first: Int) { products(first: $first) { edges { node { description } } } }";
let service: TestService;
let token: string;
before(async () => {
  service = await startService({ poolSize: 1 });
  token = await service.token({ write: "all" });
  // Three bytes each: 45 MB in all
  await service.owner.query(
    `insert into erp.product (product_number, name, description)
     select 'P-' || n, 'Long', repeat('€', 60000) from generate_series(1, 250) n`,
  );
});
after(() => service.close());

const tooLong = { code: "QUERY_TOO_COMPLEX", retryable: false };
const read = async (from: Pick<TestProcess, "ask">, first: number) => {
  const { body, text } = await from.ask(token, { query, variables: { first } });
  const [error] = body.errors ?? [];
  return { error, length: text.length };
};

describe("an answer of more than 32 MB", () => {
  for (const fastReads of [true, false])
    it(`is refused, and a shorter one is not${fastReads ? "" : ", by Grafast, too"}`, async () => {
      const process = fastReads ? service : await service.another({ settings: { fastReads }, poolSize: 1 });
      for (let n = 0; n < 2; n++) {
        const { error, length } = await read(process, 250);
        const { code, retryable } = error.extensions;
        assert.deepEqual({ code, retryable }, tooLong);
        assert.match(error.message, /^The response would have more than 32 MB/);
        assert.ok(length < 1_000);
        assert.equal((await read(process, 100)).error, undefined);
      }
    });

  it("fails none of those that come behind it on the connection", async () => {
    const short = () => service.ask(token, { query: "{ products(first: 1) { edges { node { name } } } }" });
    for (let n = 0; n < 20; n++) await short();
    const [long, ...others] = await Promise.all([read(service, 250), ...Array.from({ length: 8 }, short)]);
    assert.equal(long.error.extensions.code, "QUERY_TOO_COMPLEX");
    for (const { body } of others) assert.equal(body.errors, undefined);
  });

  it("is no reason to undo a mutation", async () => {
    await service.owner.query(
      `with parent as (insert into erp.product (product_number) values ('S-1') returning id)
       update erp.product set parent_id = parent.id from parent where product_number like 'P-%'`,
    );
    const rename = `mutation { productsUpsert(input: { products: [{ productNumber: "S-1", name: "Renamed" }] }) {
      products { children(first: 250) { edges { node { description } } } } userErrors { message } } }`;
    const { body, text } = await service.ask(token, { query: rename });
    const { code, cause, retryable } = body.errors?.[0]?.extensions ?? {};
    assert.deepEqual(
      [code, cause, retryable],
      ["PAYLOAD_UNAVAILABLE", "QUERY_TOO_COMPLEX", false],
      text.slice(0, 999),
    );
    const { rows } = await service.owner.query("select name from erp.product where product_number = 'S-1'");
    assert.deepEqual(rows, [{ name: "Renamed" }]);
  });

  it("ends no export: it goes on with shorter pages", async () => {
    const bulk = startTestBulk(service);
    try {
      const start = `mutation { bulkOperationRun(input: { query: "{ products { edges { node { description } } } }" }) {
        bulkOperation { id } userErrors { message } } }`;
      const { body } = await service.ask(token, { query: start });
      const { id } = body.data.bulkOperationRun.bulkOperation;
      const { state, errorCode } = await ended(service, token, id);
      assert.deepEqual([state, errorCode], ["completed", null]);
    } finally {
      await bulk.stop();
    }
  });
});
