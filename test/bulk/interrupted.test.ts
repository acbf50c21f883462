import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { after, before, describe, it } from "node:test";
import type { TestContext } from "node:test";
import type { BulkOptions } from "../../src/bulk/bulk-work.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";
import { ended, jsonl, operation, startTestBulk, upload } from "./support.ts";

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
});
after(() => shop.close());

const all = { read: "all", write: "all" } as const;
/** Rows of new products, and in the third chunk one of a product that is there. */
const rowsNamed = (name: string) =>
  Array.from({ length: 1_000 }, (_, i) =>
    i === 600 ? { productNumber: "hammer", name } : { productNumber: `${name}-${i}` },
  );
const send = async (token: string, name: string): Promise<string> => {
  const { body } = await upload(shop, token, "products", jsonl(rowsNamed(name)));
  return body.bulkOperation.id;
};

/** Holds the row that the third chunk changes, so that work stops there, until it is let go. */
async function holdHammer(t: TestContext) {
  const client = await shop.owner.connect();
  t.after(() => client.release(true));
  await client.query("begin; select from erp.product where product_number = 'hammer' for update");
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return {
    letGo: () => client.query("rollback"),
    /** Waits until a bulk operation waits for the hammer, with two chunks done. */
    reached: (token: string, id: string) =>
      until(async () => {
        const waiting = await shop.owner.query(
          "select from pg_locks where not granted and $1 = any (pg_blocking_pids(pid))",
          [rows[0]!.pid],
        );
        return waiting.rowCount! > 0 && (await operation(shop, token, id)).doneCount === 500;
      }),
  };
}

/** Works on bulk operations until the test ends. */
function work(t: TestContext, options: Partial<BulkOptions> = {}): void {
  const bulk = startTestBulk(shop, options);
  t.after(() => bulk.stop());
}

const made = async (name: string): Promise<number> =>
  (await shop.owner.query("select from erp.product where product_number like $1", [`${name}-%`])).rowCount!;

describe("a bulk operation", () => {
  it("is continued after its process was killed, and does nothing twice", async (t) => {
    const token = await shop.token(all);
    const { letGo, reached } = await holdHammer(t);
    const id = await send(token, "killed");
    const program = fileURLToPath(new URL("process.ts", import.meta.url));
    const child = spawn(process.execPath, [program, shop.loginUrl, "2000"], { stdio: "inherit" });
    const exit = once(child, "exit");
    t.after(() => child.kill("SIGKILL"));
    await reached(token, id);
    child.kill("SIGKILL");
    await exit;
    work(t, { leaseMs: 10_000 });
    await letGo();
    const { state, doneCount, createdCount, updatedCount } = await ended(shop, token, id);
    assert.deepEqual([state, doneCount, createdCount, updatedCount], ["completed", 1_000, 999, 1]);
    assert.equal(await made("killed"), 999);
    const { rows } = await shop.owner.query(
      `select topic, count(*)::int, count(distinct entity_id)::int as products from events.outbox
       where topic in ('product.created', 'product.updated') and data ->> 'name' = 'killed'
         or data ->> 'productNumber' like 'killed-%' group by topic order by topic`,
    );
    assert.deepEqual(rows, [
      { topic: "product.created", count: 999, products: 999 },
      { topic: "product.updated", count: 1, products: 1 },
    ]);
    assert.deepEqual((await shop.owner.query("select from bulk.chunk")).rowCount, 0);
  });

  it("stops when it is cancelled, and undoes what it was about to do", async (t) => {
    const token = await shop.token(all);
    const { letGo, reached } = await holdHammer(t);
    const id = await send(token, "stopped");
    work(t);
    await reached(token, id);
    const select = "bulkOperation { state }";
    const { bulkOperation } = await shop.mutate("bulkOperationCancel", { id }, { token, select });
    assert.deepEqual(bulkOperation, { state: "cancelled" });
    await letGo();
    // Until the chunk has been undone, and another operation begun by the same worker
    const next = await upload(shop, token, "products", jsonl([{ productNumber: "after" }]));
    await ended(shop, token, next.body.bulkOperation.id);
    const { state, doneCount } = await operation(shop, token, id);
    assert.deepEqual([state, doneCount, await made("stopped")], ["cancelled", 500, 500]);
  });

  it("stops when its credential loses the scope, and says so", async (t) => {
    const credential = await shop.credential(all);
    const token = await shop.tokenFor(credential);
    const { letGo, reached } = await holdHammer(t);
    const id = await send(token, "revoked");
    work(t);
    await reached(token, id);
    const scopes = credential.scopes.filter((scope) => scope !== "products:write");
    await shop.owner.query("update auth.credential set scopes = $2 where id = $1", [credential.id, scopes]);
    await letGo();
    const { state, errorCode, errorMessage } = await ended(shop, token, id);
    assert.deepEqual([state, errorCode], ["failed", "SCOPE_MISSING"]);
    assert.match(errorMessage, /products/);
    assert.ok((await made("revoked")) < 999);
  });

  it("lets those of others pass, but none of its own credential", async (t) => {
    const token = await shop.token(all);
    const other = await shop.token(all);
    const { letGo, reached } = await holdHammer(t);
    work(t, { concurrency: 3 });
    const first = await send(token, "first");
    await reached(token, first);
    const second = await upload(shop, token, "products", jsonl([{ productNumber: "second" }]));
    const others = await upload(shop, other, "products", jsonl([{ productNumber: "others" }]));
    await ended(shop, other, others.body.bulkOperation.id);
    assert.equal((await operation(shop, token, second.body.bulkOperation.id)).state, "queued");
    await letGo();
    assert.equal((await ended(shop, token, second.body.bulkOperation.id)).state, "completed");
  });
});
