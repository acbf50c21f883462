import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, suite, test } from "node:test";
import { createCredential } from "../../src/auth/credentials.ts";
import { merchantDatabaseName } from "../../src/merchants/merchant-database.ts";
import { storeMerchant } from "../../src/merchants/directory.ts";
import type { Merchant } from "../../src/merchants/merchant.ts";
import { listChores, lastDueTime } from "../../src/jobs/chores.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import type { CuttableProxy } from "../lib/cuttable-proxy.ts";
import { withConnection, hostOf, openMerchants, owner } from "../lib/merchants.ts";
import type { TestMerchants } from "../lib/merchants.ts";
import { until } from "../lib/until.ts";
import { newSecret, startReceiver, subscribe, verifySignature } from "../webhooks/support.ts";
import type { Received, Receiver } from "../webhooks/support.ts";

let opened: TestMerchants;
let receiver: Receiver;
let proxy: CuttableProxy;
const tokens: string[] = [];
/** Messages that the receiver doesn't answer. */
const held: ServerResponse[] = [];

const topic = "product.created";
const at = (n: number): Merchant => opened.merchants[n]!;
const receivedAt = (path: string): Received[] =>
  receiver.received.filter((message) => message.path.startsWith(path));

/** Waits for a message about a product. */
async function arrived(path: string, number: string): Promise<Received> {
  const found = () =>
    receivedAt(path).find(({ body }) => (body.data.productNumber as string).startsWith(number));
  await until(() => found() !== undefined);
  return found()!;
}

async function graphql(n: number, query: string, variables: object = {}): Promise<any> {
  const headers = { authorization: `Bearer ${tokens[n]!}` };
  const { body } = await opened.ask(hostOf(at(n)), "/api/graphql/unstable", { query, variables }, headers);
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  return body.data;
}

const create = (n: number, code: string) =>
  graphql(
    n,
    `mutation { productsUpsert(input: { products: [{ productNumber: "${code}", name: "${code}" }] }) { userErrors { code } } }`,
  );

const rows = (n: number, text: string): Promise<any[]> =>
  owner(at(n), async (client) => (await client.query(text)).rows);

const waitingJobs = async (n: number): Promise<number> =>
  (await rows(n, "select from graphile_worker._private_jobs")).length;

/** Writes to a merchant's database without the service. */
const write = (n: number, code: string, count = 1) =>
  rows(
    n,
    `insert into erp.product (name, product_number) select '${code}', '${code}-' || i from generate_series(1, ${count}) i`,
  );

const listen = (n: number, path: string, secret = newSecret()) =>
  owner(at(n), (client) => subscribe(client, { topic, url: receiver.url + path, secret }));

async function isQuiet(): Promise<boolean> {
  const open = "select count(*)::integer as count from pg_stat_activity where datname = any ($1)";
  const databases = opened.merchants.map(({ name }) => merchantDatabaseName(name));
  const { rows } = await withConnection(process.env.TEST_ADMIN_URL!, (admin) =>
    admin.query(open, [databases]),
  );
  return rows[0].count === 0;
}

/** As if no process had been running for a day. */
const lateUpkeep = `insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
  values ('upkeep', now(), now() - interval '1 day')`;

before(async () => {
  receiver = await startReceiver();
  opened = await openMerchants({
    count: 4,
    settings: { MERCHANT_CONNECTIONS: "20", WEBHOOK_ALLOW: "127.0.0.1" },
    async prepare(merchant, n) {
      if (n === 2) await owner(merchant, (client) => client.query(lateUpkeep));
      if (n !== 3) return merchant;
      proxy = await openCuttableProxy(merchant.databaseUrl);
      return { ...merchant, databaseUrl: proxy.url };
    },
  });
  for (const n of [0, 1]) tokens[n] = await opened.tokenAt(at(n), "all");
});

after(async () => {
  proxy?.restore();
  await opened?.close();
  await proxy?.close();
  await receiver?.close();
});

suite("background work of many merchants", () => {
  test("each sends its webhooks, signed with its own secret", async () => {
    const secrets = [newSecret(), newSecret()];
    for (const n of [0, 1]) await listen(n, `/own/${n}`, secrets[n]);
    for (const n of [0, 1]) await create(n, `OWN${n}`);
    for (const n of [0, 1]) {
      const message = await arrived(`/own/${n}`, "OWN");
      assert.equal(message.body.data.productNumber, `OWN${n}`);
      verifySignature(message, secrets[n]!);
      assert.throws(() => verifySignature(message, secrets[1 - n]!));
    }
  });

  test("exports are written, and jobs are run", async () => {
    const query = "query { products(first: 5) { edges { node { productNumber } } } }";
    const { bulkOperationRun } = await graphql(
      0,
      `
        mutation ($query: String!) {
          bulkOperationRun(input: { query: $query }) {
            bulkOperation {
              id
            }
            userErrors {
              code
            }
          }
        }
      `,
      { query },
    );
    assert.deepEqual(bulkOperationRun.userErrors, []);
    const { id } = bulkOperationRun.bulkOperation;
    const read = `query ($id: ID!) { bulkOperation(id: $id) { state rowCount } }`;
    await until(async () => (await graphql(0, read, { id })).bulkOperation.state === "completed");
    // Nobody has asked for anything of this merchant
    const known = "select last_execution from graphile_worker._private_known_crontabs";
    const isMadeUpFor = `${known} where last_execution > now() - interval '6 hours'`;
    await until(async () => (await rows(2, isMadeUpFor)).length === 1);
    await rows(
      2,
      "select graphile_worker.add_job('erase_retired_keys', run_at => now() + interval '1 second')",
    );
    await until(async () => (await waitingJobs(2)) === 0);
    const [done, ...others] = await rows(2, known);
    const chores = listChores({ exchangeRatesFrom: undefined }, at(2).name);
    // Or else it would be due again and again
    assert.deepEqual(
      [done.last_execution.getTime(), others],
      [lastDueTime(chores[0]!, done.last_execution), []],
    );
  });

  test("what a job deletes is counted, also of a merchant of whom nobody asks anything", async () => {
    await owner(at(2), async (client) => {
      const { id } = await createCredential(client, { name: "Former", read: "all", write: "all" });
      await client.query(
        `insert into auth.credential_use (credential_id, day, version, requests, last_used_at)
         values ($1, current_date - 4000, 'unstable', 1, now())`,
        [id],
      );
    });
    assert.ok(!opened.serving.merchants.find(at(2).name));
    await rows(2, "select graphile_worker.add_job('prune_use_counts')");
    const line = 'service_pruned_rows_total{what="counts of use"} 1';
    await until(async () => (await opened.serving.figures.metrics()).includes(line));
  });

  test("a job that a killed process has left is done", async () => {
    await owner(at(2), (client) =>
      client.query(
        `select graphile_worker.add_job('erase_retired_keys', job_key => 'left');
         update graphile_worker._private_jobs set locked_at = now() - interval '1 hour', locked_by = 'killed' where key = 'left'`,
      ),
    );
    await until(async () => (await waitingJobs(2)) === 0);
  });

  test("a message is sent again when it is due, although nobody asks; then there are no connections", async () => {
    receiver.answer = (_, response) => response.writeHead(receivedAt("/again").length > 1 ? 204 : 500).end();
    await listen(2, "/again");
    await write(2, "again");
    await until(() => receivedAt("/again").length > 0);
    await until(isQuiet);
    await until(() => receivedAt("/again").length > 1);
    await until(isQuiet);
    assert.deepEqual(await rows(2, "select state from events.delivery"), [{ state: "delivered" }]);
  });

  test("a flood of one, to a receiver that is slow, delays no other, and figures say whose it is", async () => {
    const figures = () => opened.serving.figures.metrics();
    const lag = `service_merchant_lag_seconds{merchant="${at(0).name}"`;
    let most = 0;
    receiver.answer = ({ path }, response) => {
      if (!path.startsWith("/slow")) return response.writeHead(204).end();
      held.push(response);
      most = Math.max(most, held.filter(({ closed }) => !closed).length);
    };
    for (let n = 0; n < 5; n++) await listen(0, `/slow/${n}`);
    await write(0, "flood", 30);
    await until(() => most >= 5);
    await until(async () => (await figures()).includes(lag));
    await create(1, "BESIDE");
    await arrived("/own/1", "BESIDE");
    // By default, a process sends twenty
    assert.ok(most < 20, `${most} at a time`);
    receiver.answer = (_, response) => response.writeHead(204).end();
    for (const response of held.splice(0)) response.writeHead(204).end();
    await until(async () => !(await figures()).includes(lag));
    assert.match(await figures(), /^service_outbox_lag_seconds \d/m);
  });

  test("that the server of one is away is known, although nobody asks it for anything", async (t) => {
    t.after(() => proxy.restore());
    const away = (count: number) => async () =>
      (await opened.serving.figures.metrics()).includes(`service_merchants_away ${count}\n`);
    await until(away(0));
    proxy.cut();
    await until(away(1));
    proxy.restore();
    await until(away(0));
  });

  test("while the database of one is away, others go on", async () => {
    const each =
      "select graphile_worker.add_job('erase_retired_keys', run_at => now() + i * interval '1 second')";
    await rows(3, `${each} from generate_series(1, 300) i`);
    await until(async () => (await waitingJobs(3)) < 300);
    proxy.cut();
    const told = () =>
      opened.log.filter(
        ({ merchant, msg }) => merchant === at(3).name && /background work is paused/.test(msg),
      );
    await until(() => told().length > 0);
    await create(1, "BESIDES");
    await arrived("/own/1", "BESIDES");
    const left = await waitingJobs(3);
    proxy.restore();
    await until(async () => (await waitingJobs(3)) < left);
    assert.equal(told().length, 1);
  });

  test("nothing is sent for a suspended one", async () => {
    await storeMerchant(opened.folder, { ...at(2), state: "suspended" });
    await until(async () => (await opened.ask(hostOf(at(2)), "/livez")).status === 403);
    await write(2, "later");
    await write(1, "sooner");
    await arrived("/own/1", "sooner");
    assert.equal((await rows(2, "select from events.outbox")).length, 1);
    await storeMerchant(opened.folder, at(2));
    await arrived("/again", "later");
  });

  test("a stop waits for what is being sent", async () => {
    receiver.answer = ({ body }, response) =>
      body.data.productNumber === "LAST" ? held.push(response) : response.writeHead(204).end();
    await create(1, "LAST");
    await until(() => held.length > 0);
    const stopped = opened.serving.stop();
    receiver.answer = (_, response) => response.writeHead(204).end();
    for (const response of held) response.writeHead(204).end();
    await stopped;
    assert.deepEqual(await rows(1, "select from events.delivery where state <> 'delivered'"), []);
    // Whose database was away may have had a job that failed
    const faults = opened.log.filter(({ level, merchant }) => level >= 50 && merchant !== at(3).name);
    assert.deepEqual(faults, []);
  });
});
