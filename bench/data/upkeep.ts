import type pg from "pg";
import { withClient } from "../../src/postgres/client.ts";
import { postgresCpu } from "../measure/postgres-cpu.ts";
import { prepareCopies } from "./ledger.ts";

/** A vacuum of movements, after as many new ones as the shop had at first. */
export interface Vacuum {
  pagesRead: number;
  pages: number;
  milliseconds: number;
}

const pagesOf = /pages: \d+ removed, (\d+) remain, (\d+) scanned/;
const newMovements = 34_000;
/** Number of old events to drop. Later events stay. */
const oldEvents = 10_000;
const batch = 500;
/** Age of the new movements in seconds, so that they aren't in the future. */
const agoSeconds = { there: 120, back: 60 };

/** Adds movements as if they had just been booked, and vacuums. Reverses them afterwards. */
export function vacuumAfterMovements(adminUrl: string): Promise<Vacuum> {
  return withClient(adminUrl, async (client) => {
    const { add } = await prepareCopies(client, newMovements);
    const addCopy = (direction: keyof typeof agoSeconds) =>
      add(direction, new Date(Date.now() - agoSeconds[direction] * 1_000), 0.001);
    await vacuum(client);
    await addCopy("there");
    const result = await vacuum(client);
    await addCopy("back");
    return result;
  });
}

async function vacuum(client: pg.Client): Promise<Vacuum> {
  let said = "";
  const listen = ({ message }: { message?: string | undefined }) => void (said += message ?? "");
  client.on("notice", listen);
  const begin = performance.now();
  await client.query("vacuum (verbose) ledger.stock_movement");
  const milliseconds = performance.now() - begin;
  client.off("notice", listen);
  const [, pages, read] = pagesOf.exec(said)!;
  return { pagesRead: Number(read), pages: Number(pages), milliseconds };
}

/** Dropping old events from the beginning of a log. */
export interface Pruning {
  /** Events in the log. */
  events: number;
  /** Postgres' processor time for each dropped event, in microseconds; null if unknown. */
  microseconds: number | null;
}

/** Fills the log with older events, and measures dropping the oldest ones. */
export function pruneOldEvents(adminUrl: string, count: number, postmaster: number): Promise<Pruning> {
  return withClient(adminUrl, async (client) => {
    await client.query("set session_replication_role = replica");
    await client.query("delete from events.event where sequence <= 0");
    await client.query(`
      insert into events.event
        (sequence, id, topic, subject_id, entity_id, data, changed_fields, cause, occurred_at, recorded_at)
      select n - ${count}, (lpad(to_hex(n), 12, '0') || '8' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
        e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, e.cause, now() - d.days * interval '1 day',
        now() - d.days * interval '1 day'
      from generate_series(1, ${count}) n
      cross join lateral (select case when n <= ${oldEvents} then 400 else 0 end as days) d
      cross join (select * from events.event where topic = 'stock_movement.created' order by sequence limit 1) e`);
    await client.query("set session_replication_role = default");
    await client.query("vacuum analyze events.event");
    const { rows } = await client.query<{ events: string }>("select count(*) as events from events.event");
    const before = await postgresCpu(postmaster);
    let dropped = 0;
    for (let some = batch; some === batch; dropped += some) {
      const answer = await client.query<{ dropped: number }>(`select events.prune(${batch}) as dropped`);
      some = answer.rows[0]!.dropped;
    }
    const after = await postgresCpu(postmaster);
    const microseconds = before === null || after === null ? null : (after - before) / dropped;
    return { events: Number(rows[0]!.events), microseconds };
  });
}
