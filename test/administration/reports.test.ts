import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addAxe, findViolations, openWindow } from "../lib/browser-window.ts";
import { skipBrowser, startChromium } from "../lib/chromium.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { loggedIn, textOf } from "./browser.ts";
import type { HttpBrowser } from "./browser.ts";

let service: TestService;
let visitor: HttpBrowser;
before(async () => {
  service = await startService({ template: "template_demo" });
  visitor = await loggedIn(service, "anna");
});
after(() => service.close());

/** The lines of a report's file. */
const linesOf = async (path: string) => (await visitor.get(path)).html.trimEnd().split("\n");

test("each report of the database has a page, and the list leads there", async () => {
  const list = await visitor.get("/admin/reports");
  const paths = [...list.html.matchAll(/href="(\/admin\/reports\/\w+)"/g)].map(([, path]) => path!);
  const { rows } = await service.owner.query(
    "select substring(proname from 8) as name from pg_proc where proname like 'report\\_%' and pronamespace = 'administration'::regnamespace order by 1",
  );
  assert.deepEqual(
    paths.toSorted(),
    rows.map(({ name }) => `/admin/reports/${name}`),
  );
  for (const path of paths) assert.equal((await visitor.get(path)).status, 200, path);
  assert.equal((await visitor.get("/admin/reports/other")).status, 404);
  assert.equal((await visitor.get("/admin/reports/stock(null)")).status, 404);
});

test("a report shows the rows of its parameters, and as files", async () => {
  const page = textOf(await visitor.get("/admin/reports/stock?product_number=AU-0001"));
  assert.match(page, /Product Name Warehouse Units Units then/);
  assert.match(page, /AU-0001-30/);
  assert.doesNotMatch(page, /AU-0002/);
  const { rows } = await service.owner.query(
    `select p.product_number as product, p.name, w.code as warehouse, s.quantity as units, null as units_then
     from ledger.warehouse_stock s join erp.product p on p.id = s.product_id join erp.warehouse w on w.id = s.warehouse_id
     order by 1, 3`,
  );
  assert.ok(rows.length > 200, "more than a page has");
  assert.match(textOf(await visitor.get("/admin/reports/stock")), /These are the first 200 rows/);
  const jsonl = await linesOf("/admin/reports/stock?format=jsonl");
  assert.deepEqual(
    jsonl.map((line) => JSON.parse(line)),
    rows,
  );
  const csv = await linesOf("/admin/reports/stock?format=csv");
  assert.deepEqual([csv[0], csv.length], ["product,name,warehouse,units,units_then", rows.length + 1]);
});

test("containers are named by their codes, in stock cards and traces", async () => {
  const report = async (name: string, parameters: Record<string, string>) => {
    const lines = await linesOf(`/admin/reports/${name}?${new URLSearchParams(parameters)}&format=jsonl`);
    return lines.filter(Boolean).map((line) => JSON.parse(line));
  };
  const { rows: moved } = await service.owner.query(
    `select p.product_number, concat_ws(' ', w.code, c.number) as place
     from ledger.stock_movement m join erp.product p on p.id = m.product_id
     join erp.stock_container c on c.id in (m.source_stock_container_id, m.destination_stock_container_id)
     left join erp.warehouse w on w.id = c.warehouse_id order by m.id desc limit 1`,
  );
  const card = await report("stock_card", { product_number: moved[0].product_number, since: "2020-01-01" });
  assert.ok(card.some(({ source, destination }) => [source, destination].includes(moved[0].place)));
  const { rows: held } = await service.owner.query(
    `select p.product_number, b.number, concat_ws(' ', w.code, c.number) as place
     from ledger.batch_stock h join ledger.stock s on s.id = h.stock_id and h.quantity > 0
     join erp.stock_container c on c.id = s.stock_container_id
     left join erp.warehouse w on w.id = c.warehouse_id
     join erp.batch b on b.id = h.batch_id join erp.product p on p.id = b.product_id order by h.stock_id limit 1`,
  );
  const { product_number, number: batch_number } = held[0];
  const trace = await report("trace", { product_number, batch_number });
  assert.ok(trace.some(({ destination }) => destination === held[0].place));
});

test("stocktakes show their progress, and the differences of one by value", async () => {
  const parsed = async (path: string) =>
    (await linesOf(`/admin/reports/${path}&format=jsonl`)).map((text) => JSON.parse(text));
  const all = await parsed("stocktake_progress?warehouse=HAM");
  assert.ok(all.length > 5 && all.every(({ place }) => place === "HAM"));
  const [{ stocktake, positions, counted, sheets }] = all.filter(({ state }) => state === "review");
  assert.deepEqual([positions, counted, sheets], [14, 14, 2]);
  const rows = await parsed(`stocktake?stocktake=${stocktake}`);
  assert.ok(rows.length > 1);
  for (const row of rows) assert.equal(row.difference, row.counted - row.expected);
  const values = rows.map(({ value }) => Math.abs(value));
  assert.deepEqual(
    values,
    values.toSorted((a, b) => b - a),
  );
});

test("rules of sourcing are tried, and warehouses named by their codes", async () => {
  const report = async (rules: string) => {
    const query = new URLSearchParams({ first_day: "2026-05-01", last_day: "2026-05-31", rules });
    const lines = await linesOf(`/admin/reports/sourcing?${query}&format=jsonl`);
    return lines.map((line) => JSON.parse(line));
  };
  const [whole, ...parts] = await report("bre, split_least");
  assert.equal(whole.location, "All locations");
  assert.equal(parts.find(({ location }) => location === "Bremen").orders > whole.orders / 2, true);
  assert.equal((await report("do_not_split"))[0].split_orders, 0);
  assert.equal((await report(""))[0].orders, whole.orders);
});

test("what to buy is listed by supplier, with totals and reasons", async () => {
  const report = async (query: string) => {
    const lines = await linesOf(`/admin/reports/reorder?${query}&format=jsonl`);
    return lines.filter(Boolean).map((line) => JSON.parse(line));
  };
  const rows = await report("");
  const sellers = rows.map(({ supplier }) => supplier);
  assert.ok(new Set(sellers).size > 5);
  for (const seller of new Set(sellers)) {
    const [total, ...proposals] = rows.filter(({ supplier }) => supplier === seller);
    assert.deepEqual([total.product, total.to], ["Total", null]);
    assert.ok(
      proposals.length > 0 && proposals.every(({ reason }) => / sellable, .* on order; /.test(reason)),
    );
    const quantities = proposals.map(({ quantity }) => quantity);
    assert.equal(
      total.quantity,
      quantities.reduce((sum, quantity) => sum + quantity),
    );
  }
  assert.equal(sellers.at(-1), "No active supplier");
  const some = await report("warehouse=LYO&supplier_number=S-10010");
  assert.deepEqual(
    some.map(({ product }) => product),
    ["Total", "AU-0001-26", "AU-0005-37"],
  );
  assert.ok(some.every(({ to }, n) => n === 0 || to === "LYO"));
  assert.match(some[0].reason, /^2 proposals/);
  assert.deepEqual(await report("warehouse=nowhere"), []);
});

test("cells that a spreadsheet would run are made harmless", async () => {
  await service.owner.query(
    "update erp.product set name = '=1+1, \"x\"' where product_number = 'AU-0001-30'",
  );
  const csv = await linesOf("/admin/reports/stock?product_number=AU-0001-30&format=csv");
  assert.match(csv[1]!, /^AU-0001-30,"'=1\+1, ""x""",/);
});

test(
  "pictures of a trace and a stock card have no fault that axe knows of",
  { skip: skipBrowser },
  async () => {
    const { rows } = await service.owner.query(
      `select p.product_number, b.number from ledger.stock_movement_batch m join erp.batch b on b.id = m.batch_id
     join erp.product p on p.id = b.product_id group by 1, 2 order by count(*) desc, 1, 2 limit 1`,
    );
    const [{ product_number: product, number }] = rows;
    const browser = await startChromium();
    try {
      const cookies = [...visitor.cookies].map(([name, value]) => ({
        ...{ name, value, domain: "127.0.0.1", path: "/", expires: -1 },
        ...{ httpOnly: true, secure: false, sameSite: "Lax" as const },
      }));
      const storageState = { cookies, origins: [] };
      const { page, faults } = await openWindow(
        browser,
        { baseURL: service.url, storageState },
        /status of 4\d\d/,
      );
      await addAxe(page);
      for (const path of [
        `trace?${new URLSearchParams({ product_number: product, batch_number: number })}`,
        `stock_card?${new URLSearchParams({ product_number: product, since: "2024-01-01" })}`,
      ]) {
        await page.goto(`/admin/reports/${path}`);
        for (const width of [360, 1280]) {
          await page.setViewportSize({ width, height: 800 });
          await page.locator("svg.picture path").first().waitFor();
          assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, path);
          assert.deepEqual(await findViolations(page), [], `${path}, ${width} pixels`);
        }
        await page.emulateMedia({ colorScheme: "dark" });
        assert.deepEqual(await findViolations(page, ["color-contrast"]), [], `${path}, dark`);
        await page.emulateMedia({ colorScheme: "light" });
      }
      await page.goto("/admin/reports/reorder");
      for (const [width, colorScheme] of [
        [360, "light"],
        [1280, "light"],
        [1280, "dark"],
      ] as const) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false);
        assert.deepEqual(await findViolations(page), [], `what to buy, ${width} pixels, ${colorScheme}`);
      }
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
    }
  },
);
