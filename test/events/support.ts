import type pg from "pg";

/** Moves all committed events into the log. Returns their number. */
export async function sequence(client: pg.ClientBase | pg.Pool): Promise<number> {
  let moved = 0;
  for (;;) {
    const { rows } = await client.query("select events.sequence_events() as moved");
    if (rows[0].moved === 0) return moved;
    moved += rows[0].moved ?? 0;
  }
}

/** The log, or its part after a sequence. */
export async function logAfter(client: pg.ClientBase | pg.Pool, after = 0): Promise<any[]> {
  const { rows } = await client.query(
    `select sequence::int, id, topic, subject_id, entity_id, data, changed_fields, cause from events.event
     where sequence > $1 order by sequence`,
    [after],
  );
  return rows;
}

/** The newest sequence of the log. */
export async function endOfLog(client: pg.ClientBase | pg.Pool): Promise<number> {
  const { rows } = await client.query("select last_sequence::int as sequence from events.log_head");
  return rows[0].sequence;
}

/** Makes a subscription, as an administrator does. Returns its id. */
export async function subscribeToTopic(
  client: pg.ClientBase | pg.Pool,
  topic: string,
  { fields = null, enabled = true }: { fields?: string[] | null; enabled?: boolean } = {},
): Promise<string> {
  const { rows } = await client.query(
    `insert into events.webhook_subscription (topic, url, api_version, fields, enabled)
     values ($1, 'https://shop.example/hook', 'unstable', $2, $3) returning id`,
    [topic, fields, enabled],
  );
  return rows[0].id;
}

/** The deliveries of a subscription, oldest first: sequence, previous sequence, state. */
export async function deliveriesOf(client: pg.ClientBase | pg.Pool, subscription: string): Promise<any[]> {
  const { rows } = await client.query(
    `select sequence::int, previous_sequence::int as previous, state from events.delivery
     where subscription_id = $1 order by sequence nulls first, id`,
    [subscription],
  );
  return rows;
}
