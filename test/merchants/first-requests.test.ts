import assert from "node:assert/strict";
import { mock, suite, test } from "node:test";
import pg from "pg";
import { merchantDatabaseName } from "../../src/merchants/merchant-database.ts";
import { urlOfDatabase } from "../../src/migrations/templates.ts";
import { FirstRequests } from "../../src/merchants/first-requests.ts";
import { hostOf, openMerchants } from "../lib/merchants.ts";
import { until } from "../lib/until.ts";

/** Between two looks of background work for merchants whose time has come. */
const tickMs = 250;
const path = "/api/graphql/unstable";
const upsert = `mutation { productsUpsert(input: { products: [{ productNumber: "A", name: "A" }] }) { userErrors { code } } }`;

suite("first requests", () => {
  test("visits after a start rest while one is answered, but not where something was written", async (t) => {
    mock.timers.enable({ apis: ["setInterval"] });
    const opened = await openMerchants({ count: 3 });
    const locking = new pg.Client(
      urlOfDatabase(process.env.TEST_ADMIN_URL!, merchantDatabaseName(opened.merchants[0]!.name)),
    );
    t.after(async () => {
      mock.timers.reset();
      await locking.end();
      await opened.close();
    });
    const { merchants, serving, ask } = opened;
    const visits = async (): Promise<number> =>
      Number(/^service_merchants_visits_total (\d+)/m.exec(await serving.figures.metrics())![1]);
    const token = await opened.tokenAt(merchants[1]!, "all");

    await locking.connect();
    await locking.query("begin; lock table auth.rights_mark in access exclusive mode");
    const answer = ask(hostOf(merchants[0]!), path, { query: "{ __typename }" });
    await until(() => serving.merchants.firstRequests.areRunning);
    mock.timers.tick(tickMs);
    assert.equal(await visits(), 0);

    const headers = { authorization: `Bearer ${token}` };
    const { body } = await ask(hostOf(merchants[1]!), path, { query: upsert }, headers);
    assert.deepEqual(body.data.productsUpsert.userErrors, []);
    await until(async () => (await visits()) > 0);
    mock.timers.tick(tickMs);
    assert.equal(serving.merchants.find(merchants[0]!.name), null);

    await locking.query("commit");
    assert.equal((await answer).status, 401);
    await until(async () => {
      mock.timers.tick(tickMs);
      return (await visits()) >= 3;
    });
  });

  test("visits after a start are put off for so long only", async (t) => {
    mock.timers.enable({ apis: ["setInterval"] });
    const opened = await openMerchants({ count: 1 });
    t.after(async () => {
      mock.timers.reset();
      await opened.close();
    });
    const { firstRequests } = opened.serving.merchants;
    const visits = async () =>
      /^service_merchants_visits_total (\d+)/m.exec(await opened.serving.figures.metrics())![1];
    const answered = firstRequests.begin();
    mock.timers.tick(60_000 - tickMs);
    assert.deepEqual([firstRequests.areRunning, await visits()], [true, "0"]);
    mock.timers.tick(2 * tickMs);
    await until(async () => (await visits()) === "1");
    answered();
  });

  test("one that lasts, as live queries do, is none any more after a while", async () => {
    const requests = new FirstRequests(20);
    const answered = requests.begin();
    assert.equal(requests.areRunning, true);
    await until(() => !requests.areRunning);
    requests.begin();
    assert.equal(requests.areRunning, true);
    answered();
  });
});
