import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";

// A connection keeps the plans of statements in functions. Here they are made while there are no keys, and Postgres
// knows that; then keys come, and nothing tells Postgres.

const credential = "018fd2d0-081f-73dc-8edd-7c7360cdaaf2";

describe("a connection that has been there since there were no idempotency keys", () => {
  const used = useDatabase("template_schema");
  const rows = queryRows(() => used.client);

  /** Rows of keys that reading all of the table has read since the transaction began. */
  const readAsAWhole = async () => {
    const [found] = await rows(
      "select seq_tup_read::integer as count from pg_stat_xact_user_tables where relname = 'idempotency_key'",
    );
    return found.count as number;
  };
  const uses: Record<string, (nth: number) => Promise<unknown>> = {
    "a mutation": (nth) =>
      rows("select mutation.run('api_unstable', 'stock_adjust', '{\"lines\": []}', $1, false)", [
        `key ${nth}`,
      ]),
    "mutations that are run together": (nth) => {
      const line = { product_id: credential, place: { warehouse_id: credential }, delta: 1 };
      const call = {
        version: "api_unstable",
        operation: "stock_adjust",
        input: { lines: [line] },
        key: `joint ${nth}`,
        credential_id: credential,
        request_id: "together",
        scopes: "stocks:write",
      };
      return rows("select mutation.run_together($1)", [
        JSON.stringify([call, { ...call, key: `other ${nth}` }]),
      ]);
    },
    "forgetting old keys": () => rows("select mutation.forget_keys()"),
    "removing all that are too old": () => rows("select mutation.prune_keys()"),
  };

  before(async () => {
    await rows("select set_config('service.credential_id', $1, false)", [credential]);
    await rows("select set_config('service.scopes', 'stocks:write', false)");
    await rows("alter table mutation.idempotency_key set (autovacuum_enabled = off)");
    await rows("vacuum analyze mutation.idempotency_key");
    // After five times, a plan may stay
    for (let nth = 0; nth < 7; nth++) for (const use of Object.values(uses)) await use(nth);
    await rows(
      `insert into mutation.idempotency_key (credential_id, key, request, payload, created_at)
       select $1, 'old ' || n, 'digest', '{}', now() - interval '25 hours' from generate_series(1, 600) n`,
      [credential],
    );
  });

  for (const [name, use] of Object.entries(uses))
    it(`reads no other keys for ${name}`, async () => {
      await rows("begin");
      const earlier = await readAsAWhole();
      await use(100);
      assert.equal((await readAsAWhole()) - earlier, 0);
      await rows("commit");
    });
});
