import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import pg from "pg";
import { versions } from "../../src/versions/versions.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// Features of every mutation, from mutation.run and its plugin, shown with stockAdjust
let shop: Shop;
before(async () => {
  shop = await openShop({ versions });
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const one = (delta: number, place = "A-1") => ({
  lines: [{ productId: shop.id.nail, place: { binLocationId: shop.id[place] }, delta }],
});
const movementIds = ({ stockMovements }: any): string[] => stockMovements.map(({ id }: any) => id);
const keys = async () => {
  const { rows } = await shop.owner.query("select key from mutation.idempotency_key order by key");
  return rows.map(({ key }) => key);
};

describe("idempotencyKey", () => {
  it("answers the first result again, and books once", async () => {
    const before = await shop.movements();
    const input = { ...one(3), idempotencyKey: "once" };
    const first = await shop.mutate("stockAdjust", input);
    const second = await shop.mutate("stockAdjust", input);
    const inOtherVersion = await shop.mutate("stockAdjust", input, { version: "2026-06-unstable" });
    assert.deepEqual(movementIds(second), movementIds(first));
    assert.deepEqual(movementIds(inOtherVersion), movementIds(first));
    assert.equal(await shop.movements(), before + 1);
  });

  it("books once however many come at the same time", async () => {
    const before = await shop.movements();
    const input = { ...one(1), idempotencyKey: "together" };
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.mutate("stockAdjust", input)));
    assert.equal(new Set(answers.flatMap(movementIds)).size, 1);
    assert.equal(await shop.movements(), before + 1);
  });

  it("refuses another input and another mutation", async () => {
    await shop.mutate("stockAdjust", { ...one(1), idempotencyKey: "mine" });
    const lines = [{ productId: shop.id.nail, place: { binLocationId: shop.id["A-1"] }, quantity: 1 }];
    for (const payload of [
      await shop.mutate("stockAdjust", { ...one(2), idempotencyKey: "mine" }),
      await shop.mutate("stockSet", { lines, idempotencyKey: "mine" }),
    ])
      assert.deepEqual(refusals(payload), [["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"]]);
  });

  it("belongs to the credential", async () => {
    const token = await shop.token({ read: "all", write: "all" });
    const input = { ...one(1), idempotencyKey: "shared" };
    const first = await shop.mutate("stockAdjust", input);
    const second = await shop.mutate("stockAdjust", input, { token });
    assert.notDeepEqual(movementIds(first), movementIds(second));
  });

  it("is free again when a call was refused: the same may be tried again", async () => {
    const input = { ...one(-5, "A-2"), idempotencyKey: "later" };
    assert.deepEqual(refusals(await shop.mutate("stockAdjust", input)), [
      ["INSUFFICIENT_STOCK", "lines.0.delta"],
    ]);
    await shop.mutate("stockAdjust", one(5, "A-2"));
    assert.deepEqual((await shop.mutate("stockAdjust", input)).userErrors, []);
  });

  it("lives for 24 hours; old ones are removed as new ones come", async () => {
    const input = { ...one(1), idempotencyKey: "yesterday" };
    const first = await shop.mutate("stockAdjust", input);
    await shop.owner.query(
      "update mutation.idempotency_key set created_at = now() - interval '23 hours 59 minutes'",
    );
    assert.deepEqual(movementIds(await shop.mutate("stockAdjust", input)), movementIds(first));
    await shop.owner.query(
      "update mutation.idempotency_key set created_at = now() - interval '24 hours 1 minute'",
    );
    assert.notDeepEqual(movementIds(await shop.mutate("stockAdjust", input)), movementIds(first));
    // One key in eight has others removed
    for (let n = 1; n <= 40; n++) await shop.mutate("stockAdjust", { ...one(1), idempotencyKey: `new ${n}` });
    assert.deepEqual(
      (await keys()).filter((key) => !key.startsWith("new ")),
      ["yesterday"],
    );
  });

  it("has 1 to 255 characters", async () => {
    for (const idempotencyKey of ["", "x".repeat(256)]) {
      const payload = await shop.mutate("stockAdjust", { ...one(1), idempotencyKey });
      assert.deepEqual(refusals(payload), [["OUT_OF_RANGE", "idempotencyKey"]]);
    }
    assert.deepEqual(
      (await shop.mutate("stockAdjust", { ...one(1), idempotencyKey: "ä".repeat(255) })).userErrors,
      [],
    );
  });
});

describe("validateOnly", () => {
  it("changes nothing, and tells what would have been refused", async () => {
    const before = await shop.movements();
    const good = await shop.mutate("stockAdjust", { ...one(1), validateOnly: true, idempotencyKey: "dry" });
    const bad = await shop.mutate("stockAdjust", { ...one(-1_000), validateOnly: true });
    assert.deepEqual(good, { stockMovements: [], stocks: [], userErrors: [] });
    assert.deepEqual(refusals(bad), [["INSUFFICIENT_STOCK", "lines.0.delta"]]);
    assert.equal(await shop.movements(), before);
    assert.ok(!(await keys()).includes("dry"));
  });
});

describe("scopes", () => {
  const refused = async (
    scopes: { read?: string[]; write?: string[] },
    select: string,
    missing: string[],
  ) => {
    const before = await shop.movements();
    const token = await shop.token({ read: [], ...scopes });
    const answer = await shop.tryMutate("stockAdjust", one(1), { token, select });
    assert.deepEqual(answer.codes, ["FORBIDDEN"], answer.text);
    assert.deepEqual(
      answer.body.errors[0].extensions.missingScopes.map(({ field }: any) => field),
      missing,
    );
    assert.equal(await shop.movements(), before);
  };

  it("write is needed to write", () =>
    refused({ read: ["stocks"] }, "stocks { id }", ["Mutation.stockAdjust"]));

  it("a payload's fields need their own, and nothing is booked when one is missing", () =>
    refused({ write: ["stocks"] }, "stockMovements { product { id } }", ["StockMovement.product"]));

  it("write of one resource isn't write of another", () =>
    refused({ read: ["stocks"], write: ["warehouses"] }, "stocks { id }", ["Mutation.stockAdjust"]));

  it("write implies read of the same resource, also when a token asks for nothing else", async () => {
    const credentials = await shop.credential({ read: [], write: ["stocks"] });
    const response = await fetch(`${shop.url}/api/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
        scope: "stocks:write",
      }),
    });
    const { access_token: token } = (await response.json()) as { access_token: string };
    const { stocks } = await shop.mutate("stockAdjust", one(1), { token, select: "stocks { id }" });
    assert.equal(stocks.length, 1);
  });

  it("row-level security and grants are the second fence: the database refuses without the scope", async () => {
    const client = await shop.pool.connect();
    try {
      await client.query("begin; set local role service_api; set local service.scopes = 'stocks:read'");
      await assert.rejects(
        client.query("select mutation.run('api_unstable', 'stock_adjust', '{}', null, false)"),
        { code: "42501" },
      );
    } finally {
      await client.query("rollback");
      client.release();
    }
  });
});

describe("errors", () => {
  it("a bad id is refused before anything runs", async () => {
    for (const productId of ["nail", shop.id.hall, "gid://service/Product/1"]) {
      const { body, codes } = await shop.tryMutate("stockAdjust", {
        lines: [{ ...one(1).lines[0], productId }],
      });
      assert.deepEqual(codes, ["BAD_USER_INPUT"]);
      assert.equal(body.data.stockAdjust, null);
    }
  });

  it("a null character and a wrong shape are refused", async () => {
    for (const input of [
      { ...one(1), comment: "a\0b" },
      { lines: [{ productId: shop.id.nail }] },
      { lines: [null] },
      { ...one(1), other: 1 },
      {},
    ]) {
      const { codes, text } = await shop.tryMutate("stockAdjust", input);
      assert.deepEqual([...new Set(codes)], ["BAD_USER_INPUT"], text);
    }
  });

  it("several mutations of a document run one after the other; a refused one stops no other", async () => {
    const query = `mutation ($in: StockAdjustInput!, $out: StockAdjustInput!) {
      a: stockAdjust(input: $in) { userErrors { code } stocks { quantity } }
      b: stockAdjust(input: $out) { userErrors { code } }
      c: stockAdjust(input: $in) { userErrors { code } stocks { quantity } } }`;
    const token = await shop.token({ write: ["stocks"] });
    const variables = { in: one(2), out: one(-100_000) };
    const { body } = await shop.ask(token, { query, variables });
    assert.deepEqual(body.data.b.userErrors, [{ code: "INSUFFICIENT_STOCK" }]);
    assert.equal(body.data.c.stocks[0].quantity, body.data.a.stocks[0].quantity + 2);
  });

  it("a rule that SQL alone knows becomes a user error by its comment, and is masked without one", async () => {
    await shop.owner.query(`
      alter table ledger.stock_movement add constraint stock_movement_is_no_bulk check (quantity < 1000);
      comment on constraint stock_movement_is_no_bulk on ledger.stock_movement is E'@userError OUT_OF_RANGE lines\\nNot more than 999 at once.'`);
    const { userErrors } = await shop.mutate("stockAdjust", one(1_000));
    assert.deepEqual(userErrors, [
      { code: "OUT_OF_RANGE", message: "Not more than 999 at once.", field: ["lines"], details: null },
    ]);
    await shop.owner.query(
      "comment on constraint stock_movement_is_no_bulk on ledger.stock_movement is null",
    );
    const { body, codes, text } = await shop.tryMutate("stockAdjust", one(1_000));
    assert.deepEqual(codes, ["INTERNAL_SERVER_ERROR"]);
    assert.ok(!text.includes("bulk") && text.includes(body.errors[0].extensions.requestId));
    assert.ok(shop.log.some(({ requestId }) => requestId === body.errors[0].extensions.requestId));
    await shop.owner.query("alter table ledger.stock_movement drop constraint stock_movement_is_no_bulk");
  });

  it("a foreign key that the input names becomes NOT_FOUND; another is masked, and not worth a repetition", async () => {
    const table = "alter table ledger.stock_movement";
    const refer = (column: string) =>
      shop.owner.query(
        `${table} add constraint refers foreign key (${column}) references erp.tag (name) not valid`,
      );
    const input = { ...one(1), comment: "nowhere" };
    await refer("comment");
    const { userErrors } = await shop.mutate("stockAdjust", input);
    assert.deepEqual(userErrors, [
      {
        code: "NOT_FOUND",
        message: "This refers to something that does not exist.",
        field: ["comment"],
        details: null,
      },
    ]);
    await shop.owner.query(`comment on constraint refers on ledger.stock_movement is '@internal set by us'`);
    const internal = await shop.tryMutate("stockAdjust", input);
    await shop.owner.query(`${table} drop constraint refers`);
    await refer("process_type_technical_name");
    const unnamed = await shop.tryMutate("stockAdjust", input);
    for (const { body, codes } of [internal, unnamed]) {
      assert.deepEqual(codes, ["INTERNAL_SERVER_ERROR"]);
      assert.equal(body.errors[0].extensions.retryable, false);
    }
    await shop.owner.query(`${table} drop constraint refers`);
  });

  it("a code that the version doesn't list appears as INVALID", async () => {
    await shop.owner.query(`
      alter table ledger.stock_movement add constraint stock_movement_is_lucky check (quantity <> 13);
      comment on constraint stock_movement_is_lucky on ledger.stock_movement is E'@userError UNLUCKY\\nThat is unlucky.'`);
    assert.deepEqual(refusals(await shop.mutate("stockAdjust", one(13))), [["INVALID", null]]);
    await shop.owner.query("alter table ledger.stock_movement drop constraint stock_movement_is_lucky");
  });
});

describe("collisions and losses", () => {
  /** Makes the next calls fail by a trigger. */
  const withTrigger = async (body: string, work: () => Promise<void>) => {
    await shop.owner.query(`
      create sequence public.attempt; grant usage on sequence public.attempt to public;
      create function public.fail() returns trigger language plpgsql as $$ begin ${body} return null; end $$;
      create trigger fail after insert on ledger.stock_movement for each statement execute function public.fail()`);
    try {
      await work();
    } finally {
      await shop.owner.query("drop function public.fail cascade; drop sequence public.attempt");
    }
  };
  const collide = (times: number, code: string) =>
    `if nextval('public.attempt') <= ${times} then raise exception 'collision' using errcode = '${code}'; end if;`;

  for (const code of ["40001", "40P01"]) {
    it(`${code} is tried again three times, unseen by the client`, () =>
      withTrigger(collide(3, code), async () => {
        const before = await shop.movements();
        assert.deepEqual((await shop.mutate("stockAdjust", one(1))).userErrors, []);
        assert.equal(await shop.movements(), before + 1);
      }));
  }

  it("after that it is CONFLICT_RETRY, and nothing is booked", () =>
    withTrigger(collide(4, "40001"), async () => {
      const before = await shop.movements();
      const { body, codes } = await shop.tryMutate("stockAdjust", { ...one(1), idempotencyKey: "conflict" });
      assert.deepEqual(codes, ["CONFLICT_RETRY"]);
      assert.equal(body.errors[0].extensions.retryable, true);
      assert.equal(await shop.movements(), before);
      assert.ok(!(await keys()).includes("conflict"));
    }));

  it("waits three seconds for a lock, then says CONFLICT_RETRY", async () => {
    const client = await shop.owner.connect();
    try {
      await client.query("begin");
      await client.query("select from erp.product where product_number = 'nail' for update");
      const { codes } = await shop.tryMutate("stockAdjust", one(1));
      assert.deepEqual(codes, ["CONFLICT_RETRY"]);
    } finally {
      await client.query("rollback");
      client.release();
    }
  });

  /** Calls, and kills the backend while the call waits for a lock. */
  const interrupted = async (input: object) => {
    const client = new pg.Client({ connectionString: shop.adminUrl });
    await client.connect();
    try {
      await client.query("begin");
      await client.query("select from erp.product where product_number = 'nail' for update");
      const answer = shop.tryMutate("stockAdjust", input);
      await until(async () => {
        await client.query("select pg_stat_clear_snapshot()");
        const { rowCount } = await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and starts_with(application_name, 'service') and wait_event_type = 'Lock'`,
        );
        return rowCount! > 0;
      });
      return await answer;
    } finally {
      await client.end();
    }
  };

  it("a lost connection leaves open what happened, and says so", async () => {
    const { body, codes } = await interrupted(one(1));
    assert.deepEqual(codes, ["SERVICE_UNAVAILABLE"]);
    assert.equal(body.errors[0].extensions.retryable, false);
    assert.match(body.errors[0].message, /idempotencyKey/);
  });

  it("with a key it is safe to try again", async () => {
    const input = { ...one(1), idempotencyKey: "lost" };
    const { body, codes } = await interrupted(input);
    assert.deepEqual(codes, ["SERVICE_UNAVAILABLE"]);
    assert.equal(body.errors[0].extensions.retryable, true);
    assert.deepEqual((await shop.mutate("stockAdjust", input)).userErrors, []);
  });
});
