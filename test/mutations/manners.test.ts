import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CredentialRequest } from "../../src/auth/credentials.ts";
import { versions } from "../../src/versions/versions.ts";
import { missingId } from "../lib/ids.ts";
import { assertRefused, useBench } from "./support.ts";

const bench = useBench({ versions });

/** A mutation with an input that works once on the bench. */
interface Example {
  name: string;
  input: () => object;
  /** A change that makes that input fail, and the expected error. */
  mistake: () => object;
  refusal: [code: string, field: string[] | null];
  /** The selection. */
  fields: string;
  /** Scopes for reading that the selection needs. */
  read?: string[];
  /** A field of the payload that needs another scope than the mutation. */
  beyond?: string;
}

const warehouse = "warehouse { id code name isDefault location { name } }";
const binLocation = "binLocation { id code position warehouse { code } }";
const settings =
  "productWarehouseConfiguration { id reorderPoint stockBelowReorderPoint defaultBinLocation { code } }";
const stocksOf = (field: string) => `${field} { id stocks { edges { cursor } } }`;

const examples: Example[] = [
  {
    name: "warehouseCreate",
    input: () => ({ code: "N", name: "New", isDefault: true }),
    mistake: () => ({ code: "MAIN" }),
    refusal: ["NOT_UNIQUE", ["code"]],
    fields: warehouse,
    read: ["locations"],
    beyond: stocksOf("warehouse"),
  },
  {
    name: "warehouseUpdate",
    input: () => ({ id: bench.side, code: "N", isDefault: true }),
    mistake: () => ({ name: " " }),
    refusal: ["INVALID", ["name"]],
    fields: warehouse,
    read: ["locations"],
    beyond: stocksOf("warehouse"),
  },
  {
    name: "warehouseDelete",
    input: () => ({ id: bench.side }),
    mistake: () => ({ id: bench.main }),
    refusal: ["INVALID", null],
    fields: "deletedWarehouseId",
  },
  {
    name: "binLocationCreate",
    input: () => ({ warehouseId: bench.side, code: "N", position: -1 }),
    mistake: () => ({ code: "B-1" }),
    refusal: ["NOT_UNIQUE", ["code"]],
    fields: binLocation,
    beyond: stocksOf("binLocation"),
  },
  {
    name: "binLocationUpdate",
    input: () => ({ id: bench.bin, code: "N" }),
    mistake: () => ({ code: null }),
    refusal: ["REQUIRED", ["code"]],
    fields: binLocation,
    beyond: stocksOf("binLocation"),
  },
  {
    name: "binLocationDelete",
    input: () => ({ id: bench.bin }),
    mistake: () => ({ id: missingId("BinLocation") }),
    refusal: ["NOT_FOUND", ["id"]],
    fields: "deletedBinLocationId",
  },
  {
    name: "productWarehouseConfigurationSet",
    input: () => ({
      productId: bench.product,
      warehouseId: bench.side,
      defaultBinLocationId: bench.bin,
      reorderPoint: 3,
    }),
    mistake: () => ({ reorderPoint: -1 }),
    refusal: ["OUT_OF_RANGE", ["reorderPoint"]],
    fields: settings,
    read: ["product_warehouse_configurations"],
    beyond: "productWarehouseConfiguration { id }",
  },
];

const token = (request: Partial<CredentialRequest>) => bench.service.token(request);

for (const example of examples) {
  const { name, fields, read = [] } = example;

  describe(name, () => {
    it("is forbidden without its scope, and then does nothing", async () => {
      for (const request of [{}, { write: ["stocks", "products", "orders"] }, { read: ["warehouses"] }]) {
        const answer = await bench.unchanged(async () =>
          bench.send(name, example.input(), "", { token: await token(request) }),
        );
        assert.deepEqual(answer.codes, ["FORBIDDEN"]);
        assert.equal(answer.body.data, undefined);
      }
    });

    it("needs no other scope than that of writing, which gives that of reading", async () => {
      const payload = await bench.mutate(name, example.input(), fields, {
        token: await token({ read, write: ["warehouses"] }),
      });
      assert.deepEqual(payload.userErrors, []);
      for (const value of Object.values(payload)) assert.notEqual(value, null);
    });

    if (example.beyond) {
      it("is forbidden with a field whose scope is missing, and then does nothing", async () => {
        const narrow = await token({ read: [], write: ["warehouses"] });
        const answer = await bench.unchanged(() =>
          bench.send(name, example.input(), example.beyond, { token: narrow }),
        );
        assert.deepEqual(answer.codes, ["FORBIDDEN"]);
        assert.equal(answer.body.data, undefined);
      });
    }

    it("only tells what would happen with validateOnly", async () => {
      const only = { validateOnly: true, idempotencyKey: "tried" };
      const { userErrors, ...others } = await bench.unchanged(() =>
        bench.mutate(name, { ...example.input(), ...only }, fields),
      );
      assert.deepEqual(userErrors, []);
      for (const value of Object.values(others)) assert.equal(value, null);
      const [tried, done] = await bench.unchanged(async () => {
        const mistake = { ...example.input(), ...example.mistake() };
        return [
          await bench.mutate(name, { ...mistake, ...only }, fields),
          await bench.mutate(name, mistake, fields),
        ];
      });
      assertRefused(done, ...example.refusal);
      assert.deepEqual(tried, done);
      // The dry run has used up neither the key nor the input
      assert.deepEqual(
        (await bench.mutate(name, { ...example.input(), idempotencyKey: "tried" })).userErrors,
        [],
      );
    });

    it("is done once with an idempotencyKey, however often it is sent", async () => {
      const input = { ...example.input(), idempotencyKey: "once" };
      const answers = await Promise.all(Array.from({ length: 5 }, () => bench.mutate(name, input, fields)));
      assert.deepEqual(answers[0]!.userErrors, []);
      const again = await bench.unchanged(() => bench.mutate(name, input, fields));
      for (const answer of answers) assert.deepEqual(answer, again);
      const other = await bench.unchanged(() =>
        bench.mutate(name, { ...input, ...example.mistake() }, fields),
      );
      assertRefused(other, "IDEMPOTENCY_KEY_MISMATCH", ["idempotencyKey"]);
    });

    it("leaves a key free whose input was refused, and takes none that is too long", async () => {
      const idempotencyKey = "x".repeat(255);
      const wrong = { ...example.input(), ...example.mistake(), idempotencyKey };
      // The refusal stays with its key, for calls that arrived before it
      assertRefused(await bench.mutate(name, wrong, fields), ...example.refusal);
      for (const key of ["", `${idempotencyKey}x`]) {
        const payload = await bench.unchanged(() =>
          bench.mutate(name, { ...example.input(), idempotencyKey: key }, fields),
        );
        assertRefused(payload, "OUT_OF_RANGE", ["idempotencyKey"]);
      }
      assert.deepEqual((await bench.mutate(name, { ...example.input(), idempotencyKey })).userErrors, []);
    });

    it("is the same in both versions", async () => {
      const version = "2026-06-unstable";
      const mistake = { ...example.input(), ...example.mistake() };
      const refused = await bench.mutate(name, mistake, fields, { version });
      assert.deepEqual(refused, await bench.mutate(name, mistake, fields));
      const input = { ...example.input(), idempotencyKey: "both" };
      const done = await bench.mutate(name, input, fields, { version });
      assert.deepEqual(done.userErrors, []);
      assert.deepEqual(done, await bench.unchanged(() => bench.mutate(name, input, fields)));
    });
  });
}

describe("mutations of warehouses", () => {
  it("are all forbidden when one of an operation is", async () => {
    const query = `mutation ($line: StockAdjustLineInput!) {
      warehouseCreate(input: { code: "N", name: "New" }) { userErrors { code } }
      stockAdjust(input: { lines: [$line] }) { userErrors { code } }
    }`;
    const variables = { line: { productId: bench.product, place: { warehouseId: bench.main }, delta: 1 } };
    const narrow = await token({ write: ["warehouses"] });
    const answer = await bench.unchanged(() => bench.service.ask(narrow, { query, variables }));
    assert.deepEqual(answer.codes, ["FORBIDDEN"]);
    const { body } = await bench.service.ask(bench.token, { query, variables });
    assert.deepEqual(body.data, { warehouseCreate: { userErrors: [] }, stockAdjust: { userErrors: [] } });
  });

  it("keep the keys of each credential apart, and for a day", async () => {
    const create = async (code: string, options = {}) =>
      bench.mutate(
        "warehouseCreate",
        { code, name: "New", idempotencyKey: "k" },
        "warehouse { code }",
        options,
      );
    assert.equal((await create("A")).warehouse.code, "A");
    const other = { token: await token({ write: ["warehouses"] }) };
    assert.equal((await create("B", other)).warehouse.code, "B");
    assert.equal((await create("A")).warehouse.code, "A");
    await bench.rows("update mutation.idempotency_key set created_at = now() - interval '25 hours'");
    assert.equal((await create("C")).warehouse.code, "C");
    assertRefused(await create("A"), "IDEMPOTENCY_KEY_MISMATCH", ["idempotencyKey"]);
  });

  it("refuse a character that no text can hold", async () => {
    const answer = await bench.unchanged(() => bench.send("warehouseCreate", { code: "a\0b", name: "New" }));
    assert.deepEqual(answer.codes, ["BAD_USER_INPUT"]);
  });

  it("refuse half a character", async () => {
    const answer = await bench.unchanged(() =>
      bench.send("warehouseCreate", { code: "a\ud800b", name: "New" }),
    );
    assert.deepEqual(answer.codes, ["BAD_USER_INPUT"]);
  });

  it("refuse an address that is nested too deeply", async () => {
    for (const depth of [6_000, 50_000]) {
      const address = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
      const query =
        "mutation ($input: WarehouseCreateInput!) { warehouseCreate(input: $input) { userErrors { code } } }";
      const body = `{"query":${JSON.stringify(query)},"variables":{"input":{"code":"N","name":"New","address":${address}}}}`;
      const answer = await bench.unchanged(() => bench.service.ask(bench.token, body));
      assert.deepEqual(answer.codes, ["BAD_USER_INPUT"]);
    }
  });
});
