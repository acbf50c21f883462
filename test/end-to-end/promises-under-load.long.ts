// 64 clients promise, release, add and ship units at the same time, through two processes, one of which is killed. The
// calls are random; SEED makes others, PROMISE_CALLS sets their number:
//
//     PROMISE_CALLS=50000 npm run test:only -- test/end-to-end/promises-under-load.long.ts
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startCommand } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { moveClock } from "../lib/clock.ts";
import { uuidOf } from "../lib/ids.ts";
import { ledgerDifferences } from "../lib/proof.ts";
import { seed } from "../lib/seed.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";
import { PromiseClient } from "./promise-calls.ts";

// Has a process of its own: it simulates many clients at once.

const calls = Math.min(Number(process.env.PROMISE_CALLS ?? 1_500), 1_000_000);
const clientCount = 64;

/** Within each transaction that reserves: what it leaves must be there, unless the product allows backorders. */
const guard = `
  create function erp.guard() returns trigger language plpgsql security definer as $$
  begin
    if (select p.allows_backorders from erp.product p where p.id = new.product_id) then return null; end if;
    if new.order_line_item_id is null
        and (select p.available_stock from erp.product p where p.id = new.product_id) < 0
      or (select s.quantity - s.held_quantity - s.reserved_quantity from ledger.warehouse_stock s
        where s.product_id = new.product_id and s.warehouse_id = new.warehouse_id) < 0
      or (select sum(r.open_quantity) from erp.stock_reservation r
          where r.product_id = new.product_id and r.bin_location_id = new.bin_location_id)
        > (select coalesce(sum(s.quantity), 0) from ledger.stock s
          where s.product_id = new.product_id and s.bin_location_id = new.bin_location_id) then
      raise exception 'More is promised than there is: %', new;
    end if;
    return null;
  end $$;
  create constraint trigger guard after insert on erp.stock_reservation deferrable initially deferred
    for each row execute function erp.guard()`;

describe(`promises under load, seed ${seed}`, () => {
  let shop: ShippingShop;
  let other: CommandProcess;
  const counts = new Map<string, number>();
  const clients: PromiseClient[] = [];
  let reservations: Map<string, any>;
  let products: string[];
  const stockAtFirst = 40;

  before(
    async () => {
      shop = await openShippingShop({ poolSize: 20 });
      const [{ names }] = await shop.sql(
        `with made as (insert into erp.product (product_number, allows_backorders)
         select 'promised ' || n, n > 6 from generate_series(1, 7) n returning id, product_number)
       select array_agg('gid://service/Product/' || id order by product_number) as names from made`,
      );
      const all: string[] = names;
      products = all.slice(0, 6);
      const places = [
        { warehouseId: shop.id.hall! },
        { warehouseId: shop.id.shed! },
        { binLocationId: shop.id["A-1"]! },
        { binLocationId: shop.id["B-1"]! },
      ];
      const lines = products.flatMap((productId) =>
        places.map((place) => ({ productId, place, quantity: stockAtFirst / 4 })),
      );
      assert.deepEqual((await shop.mutate("stockSet", { lines })).userErrors, []);
      // Of half of the products nobody orders anything, so that what is reserved of them is known exactly
      const orders = [];
      for (let n = 0; n < 24; n++) {
        const product = products[n % 3]!;
        shop.id[`of ${n}`] = product;
        const order = await shop.order([{ product: `of ${n}`, quantity: 4 }]);
        orders.push({ id: order.id, line: order.lines[0]!, product });
      }
      await shop.owner.query(guard);
      other = startCommand(["start"], {
        ...{ DATABASE_URL: shop.loginUrl, RUN_AS: "root", LIMIT_BUCKET: "1000000", LIMIT_REFILL: "1000000" },
      });
      const [, address] = await other.said(/The API is at (http:\S+?)\/api/);
      const token = await shop.token({ read: "all", write: "all" });
      const world = { token, products, places, orders, backordered: all[6]!, warehouseId: shop.id.hall! };
      const urls = [shop.url, address!];
      for (let n = 0; n < clientCount; n++)
        clients.push(new PromiseClient(`client ${n}`, seed * 1_000 + n, { ...world, urls }, counts));

      let begun = 0;
      const work = async (client: PromiseClient) => {
        while (begun < calls) await client.act(begun++);
      };
      const working = Promise.all(clients.map(work));
      await until(() => begun > calls / 3);
      await moveClock(shop.owner, "1 day");
      await until(() => begun > calls / 2);
      other.kill("SIGKILL");
      await other.ended;
      await working;
      // As the job does each minute
      await until(async () => (await shop.sql("select ledger.expire_reservations() as n"))[0].n === 0);
      const rows = await shop.sql("select * from erp.stock_reservation");
      reservations = new Map(rows.map((row) => [row.id, row]));
    },
    { timeout: 1_200_000 },
  );
  after(async () => {
    other?.kill("SIGKILL");
    await moveClock(shop.owner, "0");
    await shop?.close();
  });

  it("was a load", (context) => {
    context.diagnostic([...counts].map(([what, count]) => `${count} ${what}`).join(", "));
    for (const what of ["stockReserve", "stockRelease", "stockAdjust", "fulfillmentOrderCreate"])
      assert.ok(counts.get(what)! > 0, what);
    assert.ok(counts.get("stockReserve INSUFFICIENT_STOCK")! > 0 && counts.get("again")! > 0);
  });

  it("every answered reservation is there once, and no other", () => {
    const known = clients.flatMap((client) => client.known.map(({ id }) => uuidOf(id)));
    assert.equal(new Set(known).size, known.length);
    assert.deepEqual(known.toSorted(), [...reservations.keys()].toSorted());
  });

  it("each has the units that its client left it", () => {
    for (const { id, quantity, released, line, isShort } of clients.flatMap((client) => client.known)) {
      const found = reservations.get(uuidOf(id));
      assert.equal(found.quantity, quantity);
      const left = quantity - released;
      // Fulfillment orders and shipments may have consumed more of it
      if (line !== null) assert.ok(found.open_quantity <= left, id);
      else if (isShort)
        assert.deepEqual([found.open_quantity, found.state], [0, left > 0 ? "expired" : "released"]);
      else assert.deepEqual([found.open_quantity, found.state], [left, left > 0 ? "active" : "released"]);
    }
  });

  it("the figures are the sums of what clients know", async () => {
    for (const product of products.slice(3)) {
      const own = clients.flatMap(({ known }) => known).filter((one) => one.product === product);
      const reserved = own.reduce((sum, one) => sum + (one.isShort ? 0 : one.quantity - one.released), 0);
      const added = clients.reduce((sum, client) => sum + (client.added.get(product) ?? 0), 0);
      const [row] = await shop.sql(
        "select physical_stock, reserved_stock, available_stock from erp.product where id = $1",
        product,
      );
      const physical = stockAtFirst + added;
      assert.deepEqual(row, {
        physical_stock: physical,
        reserved_stock: reserved,
        available_stock: physical - reserved,
      });
      assert.ok(reserved <= physical);
    }
  });

  it("nothing counts twice, and the books are right", async () => {
    assert.deepEqual(await ledgerDifferences(shop.owner), []);
  });
});
