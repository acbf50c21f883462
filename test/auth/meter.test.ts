import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

describe("what an operation takes beyond its points", () => {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await startService({
      settings: { limits: { ...defaultLimits, refill: 1 } },
      async before(owner) {
        await owner.query(`
          alter table erp.product disable trigger user;
          insert into erp.product (product_number, name, available_stock) select 'P' || n, 'Product', 0 from generate_series(1, 20000) n;
          alter table erp.product enable trigger user`);
      },
    });
    token = await service.token();
  });
  after(() => service.close());
  const left = async () => {
    const { headers } = await service.ask(token, { query: "{ __typename }" });
    return Number(/r=(\d+)/.exec(headers.get("ratelimit")!)![1]);
  };

  it("is nothing for what an index answers", async () => {
    const start = performance.now();
    await left();
    const before = await left();
    for (let n = 0; n < 5; n++)
      await service.ask(token, { query: "{ products(first: 5) { edges { node { id } } } }" });
    const after = await left();
    // Ten points, and one for the check. A busy machine may take longer than half a second, of which each point pays 5 ms
    const beyond = Math.max(0, performance.now() - start - 500) / 5;
    assert.ok(after >= before - 11 - beyond, `${before} ${after} ${beyond}`);
  });

  it("is charged afterwards, and the bucket may owe it", async () => {
    // Cheap by its points, because only the planner knows that no index answers it
    const none = Array.from({ length: 250 }, () => `{ NOT: { productNumber: { startsWith: "P" } } }`);
    const query = `{ products(filter: { OR: [${none}] }) { edges { node { id } } } }`;
    const before = await left();
    let paid = 0;
    for (let n = 0; n < 8; n++) {
      const { body, codes } = await service.ask(token, { query });
      assert.deepEqual(codes, []);
      paid += body.extensions.cost.requested;
    }
    const after = await left();
    assert.ok(after < before - paid - 5, `${before} ${paid} ${after}`);
  });
});
