import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { uuidOf } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";

// mutation.warn, shown by triggers that warn, as functions of the ledger and of purchasing may
let shop: Shop;
before(async () => {
  shop = await openShop({ versions });
  await shop.owner.query(`
    create function public.warn() returns trigger language plpgsql as $$
    begin
      if exists (select from booked where quantity = 7) then
        perform mutation.warn('STOCK_PROMISED', 'Seven are promised.', '{lines,0,batch_id}', '{"reserved": 7}');
        begin
          perform mutation.warn('SURPLUS', 'This is taken back.');
          raise division_by_zero;
        exception when division_by_zero then null;
        end;
      elsif exists (select from booked where quantity = 13) then
        perform mutation.warn('UNLUCKY', 'That is unlucky.');
        perform mutation.warn('[{"code": "SURPLUS", "message": "One too many.", "field": null, "details": null}]');
      end if;
      return null;
    end $$;
    create trigger warn after insert on ledger.stock_movement referencing new table as booked
      for each statement execute function public.warn();
    create function public.warn_of_order() returns trigger language plpgsql as $$
    begin
      perform mutation.warn('SURPLUS', 'More than is needed.', '{comment}');
      return null;
    end $$;
    create trigger warn after insert on erp.supplier_order for each row execute function public.warn_of_order()`);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const one = (delta: number) => ({
  lines: [{ productId: shop.id.nail, place: { binLocationId: shop.id["A-1"] }, delta }],
});
const select = "warnings { code message field details } stockMovements { id }";
const adjust = (input: object) => shop.mutate("stockAdjust", input, { select });
const promised = {
  code: "STOCK_PROMISED",
  message: "Seven are promised.",
  field: ["lines", "0", "batchId"],
  details: { reserved: 7 },
};

describe("warnings", () => {
  it("come with what was done, in the names of the API; without any the list is empty", async () => {
    const { warnings, stockMovements, userErrors } = await adjust(one(7));
    assert.deepEqual(warnings, [promised]);
    assert.equal(stockMovements.length, 1);
    assert.deepEqual(userErrors, []);
    assert.deepEqual((await adjust(one(1))).warnings, []);
  });

  it("of what was rolled back to a savepoint aren't told", async () => {
    const { warnings } = await adjust(one(7));
    assert.deepEqual(
      warnings.map(({ code }: any) => code),
      ["STOCK_PROMISED"],
    );
  });

  it("come from functions of other roles too", async () => {
    const input = { supplierId: shop.id.forge, lineItems: [] };
    const payload = await shop.mutate("supplierOrderCreate", input, { select: "warnings { code field }" });
    assert.deepEqual(payload.warnings, [{ code: "SURPLUS", field: ["comment"] }]);
  });

  it("with a code that the version doesn't list appear as OTHER", async () => {
    const { warnings } = await adjust(one(13));
    assert.deepEqual(
      warnings.map(({ code, message }: any) => [code, message]),
      [
        ["OTHER", "That is unlucky."],
        ["SURPLUS", "One too many."],
      ],
    );
  });

  it("are each mutation's own, also in one document", async () => {
    const query = `mutation ($seven: StockAdjustInput!, $one: StockAdjustInput!, $none: StockAdjustInput!) {
      a: stockAdjust(input: $seven) { warnings { code } }
      b: stockAdjust(input: $one) { warnings { code } userErrors { code } }
      c: stockAdjust(input: $none) { warnings { code } userErrors { code } } }`;
    const variables = { seven: one(7), one: one(1), none: one(-100_000) };
    const token = await shop.token({ write: ["stocks"] });
    const { body } = await shop.ask(token, { query, variables });
    assert.deepEqual(body.data, {
      a: { warnings: [{ code: "STOCK_PROMISED" }] },
      b: { warnings: [], userErrors: [] },
      c: { warnings: [], userErrors: [{ code: "INSUFFICIENT_STOCK" }] },
    });
  });

  it("of a mutation that is refused in the end aren't told", async () => {
    await shop.owner.query(`
      create function public.refuse() returns trigger language plpgsql as $$
      begin perform mutation.refuse('INVALID', 'No.'); return null; end $$;
      create constraint trigger refuse after insert on ledger.stock_movement deferrable initially deferred
        for each row when (new.quantity = 7) execute function public.refuse()`);
    const payload = await adjust(one(7));
    await shop.owner.query("drop function public.refuse cascade");
    assert.deepEqual(refusals(payload), [["INVALID", null]]);
    assert.deepEqual(payload.warnings, []);
  });
});

describe("warnings and the rest of the machinery", () => {
  it("a repetition answers the same ones, in another version too", async () => {
    const first = await adjust({ ...one(7), idempotencyKey: "seven" });
    assert.deepEqual(await adjust({ ...one(7), idempotencyKey: "seven" }), first);

    const frozen = { version: "2026-06-unstable", select: "stockMovements { id }" };
    const input = { ...one(7), idempotencyKey: "frozen" };
    const { stockMovements } = await shop.mutate("stockAdjust", input, frozen);
    const repeated = await adjust(input);
    assert.deepEqual(repeated.warnings, [promised]);
    assert.deepEqual(repeated.stockMovements, stockMovements);
    assert.deepEqual(await shop.mutate("stockAdjust", input, frozen), { stockMovements, userErrors: [] });
  });

  it("validateOnly tells those that there would be", async () => {
    const before = await shop.movements();
    const payload = await adjust({ ...one(7), validateOnly: true });
    assert.deepEqual(payload, { warnings: [promised], stockMovements: [], userErrors: [] });
    assert.equal(await shop.movements(), before);
    assert.deepEqual((await adjust({ ...one(-100_000), validateOnly: true })).warnings, []);
  });

  it("what the setting held before is none", async () => {
    const client = await shop.pool.connect();
    try {
      const note = JSON.stringify([{ code: "SURPLUS", message: "Made up.", field: null, details: null }]);
      await client.query("begin; set local role service_api; set local service.scopes = 'stocks:write'");
      await client.query("select set_config('service.warnings', $1, true)", [note]);
      const uuid = (name: string) => uuidOf(shop.id[name]!);
      const line = { product_id: uuid("nail"), place: { bin_location_id: uuid("A-1") }, delta: 7 };
      const call = "select mutation.run('api_unstable', 'stock_adjust', $1, null, false) as result";
      for (const delta of [7, 1]) {
        const { rows } = await client.query(call, [JSON.stringify({ lines: [{ ...line, delta }] })]);
        const codes = rows[0].result.warnings.map(({ code }: any) => code);
        assert.deepEqual(codes, delta === 7 ? ["STOCK_PROMISED"] : []);
      }
    } finally {
      await client.query("rollback");
      client.release();
    }
  });
});
