import { until } from "../lib/until.ts";
import type { Books } from "./books.ts";
import { sendWaiting } from "./faults.ts";
import type { Receiver } from "./receiver.ts";
import type { World } from "./world.ts";

/** Milliseconds until all has been delivered. */
const deliveredMs = 120_000;

/** What must be so in the end. Notes what isn't. */
export async function check(world: World, receiver: Receiver, books: Books): Promise<void> {
  await checkLedger(world, books);
  const isDelivered = async () => {
    const [{ waiting }] = (await world.primary.query(`select (select count(*) from events.outbox)
      + (select count(*) from events.delivery where state <> 'delivered') as waiting`)) as [any];
    if (Number(waiting) > 0) await sendWaiting(world);
    return Number(waiting) === 0;
  };
  await until(isDelivered, deliveredMs).catch(() => books.violation("not all webhooks were delivered"));
  await checkMessages(world, receiver, books);
  await checkReplica(world, books);
}

async function checkLedger({ primary }: World, books: Books): Promise<void> {
  const rows = await primary.query(
    "select comment, count(*)::int as movements from ledger.stock_movement group by comment",
  );
  const movements = new Map(rows.map((row) => [row.comment as string, row.movements as number]));
  for (const { comment, lines, outcome } of books.bookings.values()) {
    const found = movements.get(comment) ?? 0;
    const isRight =
      outcome === "answered"
        ? found === lines
        : outcome === "not done"
          ? found === 0
          : found === 0 || found === lines;
    if (!isRight) books.violation(`${comment}: ${outcome}, of ${lines} movements the ledger has ${found}`);
    movements.delete(comment);
  }
  for (const comment of movements.keys()) books.violation(`nobody has booked ${comment}`);
  const differences = await primary.query("select * from ledger.proof limit 5");
  if (differences.length > 0) books.violation(`the proof finds ${JSON.stringify(differences)}`);
}

/** Each movement is one event, which came to the receiver in its place. */
async function checkMessages({ primary }: World, receiver: Receiver, books: Books): Promise<void> {
  receiver.violations.forEach((text) => books.violation(text));
  const events = await primary.query(`select e.id, e.sequence::int, e.entity_id, e.subject_id
    from events.event e where e.topic = 'stock_movement.created' order by e.sequence`);
  const [{ count }] = (await primary.query("select count(*)::int as count from ledger.stock_movement")) as [
    any,
  ];
  if (events.length !== count || new Set(events.map((event) => event.subject_id)).size !== count)
    books.violation(`${count} movements have ${events.length} events`);
  const latest = new Map<string, number | null>();
  let previous: number | null = null;
  for (const { id, sequence, entity_id: entity } of events) {
    const message = receiver.messages.get(id);
    if (!message || message.acceptedAt === null) books.violation(`event ${sequence} never came`);
    else {
      if (message.sequence !== sequence) books.violation(`event ${sequence} came as ${message.sequence}`);
      if (message.previousSequence !== previous)
        books.violation(`event ${sequence} came as that behind ${message.previousSequence}, not ${previous}`);
      const before = latest.get(entity);
      if (before !== undefined && (before === null || message.cameAt < before))
        books.violation(`event ${sequence} came before the previous one of its product was accepted`);
      latest.set(entity, message.acceptedAt);
    }
    previous = sequence;
  }
  const known = new Set(events.map(({ id }) => id as string));
  for (const { id, sequence } of receiver.messages.values())
    if (!known.has(id)) books.violation(`event ${sequence} (${id}) came, and the log doesn't have it`);
}

/** The replica has the same in the end. */
async function checkReplica({ primary, replica }: World, books: Books): Promise<void> {
  const sums = "select count(*)::int as movements, sum(quantity)::int as units from ledger.stock_movement";
  const [wanted] = await primary.query(sums);
  const isSame = async () => JSON.stringify((await replica.query(sums))[0]) === JSON.stringify(wanted);
  await until(isSame).catch(() => books.violation("the replica doesn't have what the primary has"));
}
