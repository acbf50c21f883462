import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { useDatabase } from "../lib/database.ts";
import { emptyTables } from "../lib/empty-tables.ts";
import { deliveriesOf, endOfLog, logAfter, sequence, subscribeToTopic } from "./support.ts";

describe("the log of events", () => {
  let admin: pg.Client;
  let others: pg.Client[];
  let start: number;
  // Before the database is dropped
  after(() => Promise.all([admin, ...others].map((client) => client.end())));
  const used = useDatabase("template_schema");

  const tables = ["erp.tag", "erp.product", "erp.customer", "events.webhook_subscription", "events.outbox"];
  const rows = "insert into erp.product (product_number) values ('A'), ('B'), ('C')";

  const rename = (client: pg.Client, product: string, name: string) =>
    client.query("update erp.product set name = $2 where product_number = $1", [product, name]);
  const names = (events: any[]) => events.map(({ data }) => [data.productNumber, data.name]);

  before(async () => {
    others = [1, 2, 3].map(() => new pg.Client({ connectionString: used.database.ownerUrl }));
    admin = new pg.Client({ connectionString: used.database.adminUrl });
    await Promise.all([admin, ...others].map((client) => client.connect()));
  });
  beforeEach(async () => {
    await emptyTables(admin, ...tables);
    await used.client.query(rows);
    await sequence(used.client);
    start = await endOfLog(used.client);
  });

  describe("the sequencer", () => {
    it("gives a transaction that commits late a later number, and skips it not", async () => {
      const [late, early] = others as [pg.Client, pg.Client];
      await late.query("begin");
      await rename(late, "A", "late");
      await rename(early, "B", "early");
      const positions = await early.query("select position from events.outbox");
      assert.equal(positions.rows.length, 1, "what is not committed can't be seen");
      await sequence(used.client);
      assert.deepEqual(names(await logAfter(used.client, start)), [["B", "early"]]);
      await late.query("commit");
      await rename(early, "C", "last");
      await sequence(used.client);
      assert.deepEqual(
        (await logAfter(used.client, start)).map(({ sequence, data }) => [sequence - start, data.name]),
        [
          [1, "early"],
          [2, "late"],
          [3, "last"],
        ],
      );
    });

    it("leaves nothing of what was rolled back, and no gap in the numbers", async () => {
      const [client] = others as [pg.Client];
      await client.query("begin");
      await rename(client, "A", "never");
      await client.query("rollback");
      await client.query("begin; savepoint s");
      await rename(client, "A", "not either");
      await client.query("rollback to s");
      await rename(client, "B", "this");
      await client.query("commit");
      await sequence(used.client);
      const log = await logAfter(used.client, start);
      assert.deepEqual(names(log), [["B", "this"]]);
      assert.equal(log[0].sequence, start + 1);
    });

    it("works one at a time: a second one does not wait, and says so", async () => {
      const [first, second] = others as [pg.Client, pg.Client];
      await rename(used.client, "A", "x");
      await first.query("begin");
      assert.equal((await first.query("select events.sequence_events() as moved")).rows[0].moved, 1);
      assert.equal((await second.query("select events.sequence_events() as moved")).rows[0].moved, null);
      await first.query("rollback");
      assert.equal((await second.query("select events.sequence_events() as moved")).rows[0].moved, 1);
      assert.equal((await second.query("select events.sequence_events() as moved")).rows[0].moved, 0);
    });

    it("numbers without gaps, each event once and those of an entity in order, while many write and many sequence", async () => {
      const writers = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const client = new pg.Client({ connectionString: used.database.ownerUrl });
          await client.connect();
          return client;
        }),
      );
      const rounds = 25;
      let isWriting = true;
      const sequencing = others.map(async (client) => {
        while (isWriting) await client.query("select events.sequence_events(7)");
      });
      await Promise.all(
        writers.map(async (client, writer) => {
          for (let round = 0; round < rounds; round++) {
            await client.query("begin");
            // The lock on the row makes the count go up by one: so the log must show it
            await client.query(
              "update erp.product set reorder_point = coalesce(reorder_point, 0) + 1 where product_number = $1",
              ["ABC"[(writer + round) % 3]],
            );
            await client.query(round % 5 === 4 ? "rollback" : "commit");
          }
        }),
      );
      isWriting = false;
      await Promise.all([...sequencing, ...writers.map((client) => client.end())]);
      await sequence(used.client);
      const log = await logAfter(used.client, start);
      assert.deepEqual(
        log.map((event) => event.sequence),
        Array.from({ length: (8 * rounds * 4) / 5 }, (_, index) => start + 1 + index),
      );
      for (const product of "ABC") {
        const counts = log
          .filter(({ data }) => data.productNumber === product)
          .map(({ data }) => data.reorderPoint);
        assert.ok(counts.length > 1);
        assert.deepEqual(
          counts,
          counts.map((_, index) => index + 1),
        );
      }
      assert.deepEqual((await used.client.query("select * from events.outbox")).rows, []);
      const ids = log.map(({ id }) => id);
      assert.deepEqual(ids.toSorted(), ids, "ids sort as numbers do");
    });

    it("moves at most a batch at a time", async () => {
      await used.client.query("update erp.product set name = 'all'");
      const moved = async () =>
        (await used.client.query("select events.sequence_events(2) as moved")).rows[0].moved;
      assert.deepEqual([await moved(), await moved(), await moved()], [2, 1, 0]);
    });
  });

  describe("fan-out", () => {
    it("makes one delivery for each enabled subscription of the topic, and says which came before", async () => {
      const [one, two] = [
        await subscribeToTopic(used.client, "product.updated"),
        await subscribeToTopic(used.client, "product.updated"),
      ];
      const off = await subscribeToTopic(used.client, "product.updated", { enabled: false });
      const other = await subscribeToTopic(used.client, "product.created");
      await rename(used.client, "A", "1");
      await used.client.query("insert into erp.product (product_number) values ('D')");
      await rename(used.client, "A", "2");
      await rename(used.client, "B", "3");
      await sequence(used.client);
      const all = [
        { sequence: start + 1, previous: null, state: "pending" },
        { sequence: start + 3, previous: start + 1, state: "pending" },
        { sequence: start + 4, previous: start + 3, state: "pending" },
      ];
      assert.deepEqual(await deliveriesOf(used.client, one), all);
      assert.deepEqual(await deliveriesOf(used.client, two), all);
      assert.deepEqual(await deliveriesOf(used.client, off), []);
      assert.deepEqual(await deliveriesOf(used.client, other), [
        { sequence: start + 2, previous: null, state: "pending" },
      ]);
      await rename(used.client, "C", "4");
      await sequence(used.client);
      assert.deepEqual((await deliveriesOf(used.client, one)).at(-1), {
        ...{ sequence: start + 5, previous: start + 4, state: "pending" },
      });
      const { rows } = await used.client.query(
        `select s.backlog_count, s.last_sequence::int, array(select q.pending from events.delivery_queue q where q.subscription_id = s.id order by q.pending) as queues
       from events.webhook_subscription s order by s.id`,
      );
      assert.deepEqual(rows, [
        { backlog_count: 4, last_sequence: start + 5, queues: [1, 1, 2] },
        { backlog_count: 4, last_sequence: start + 5, queues: [1, 1, 2] },
        { backlog_count: 0, last_sequence: null, queues: [] },
        { backlog_count: 1, last_sequence: start + 2, queues: [1] },
      ]);
    });

    it("looks at the fields that a subscription names", async () => {
      const id = await subscribeToTopic(used.client, "product.updated", {
        fields: ["gtin", "manufacturerNumber"],
      });
      await rename(used.client, "A", "no");
      await used.client.query("update erp.product set gtin = '1', name = 'yes' where product_number = 'A'");
      await used.client.query("update erp.product set gtin = '1' where product_number = 'A'");
      await used.client.query("update erp.product set manufacturer_number = 'M' where product_number = 'B'");
      await sequence(used.client);
      assert.deepEqual(
        (await deliveriesOf(used.client, id)).map((delivery) => delivery.sequence - start),
        [2, 3],
      );
    });

    it("does not make a queue end that somebody is just emptying", async () => {
      const id = await subscribeToTopic(used.client, "product.updated");
      await rename(used.client, "A", "1");
      await sequence(used.client);
      const [sender] = others as [pg.Client];
      await sender.query("begin");
      await sender.query("update events.delivery_queue set pending = pending - 1");
      await rename(used.client, "A", "2");
      const sequencing = used.client.query("select events.sequence_events()");
      await sender.query("delete from events.delivery_queue where pending = 0; commit");
      await sequencing;
      const { rows } = await sender.query(
        "select pending from events.delivery_queue where subscription_id = $1",
        [id],
      );
      assert.deepEqual(rows, [{ pending: 1 }]);
    });
  });
});
