import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { CuttableProxy } from "../lib/cuttable-proxy.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import type { HttpAnswer, TestProcess } from "../lib/service.ts";
import type { Shop } from "../lib/shop.ts";
import type { Call, Line } from "./stock-calls.ts";

/** The result of a call, as its client knows it. */
export interface CallOutcome {
  /** Comment of its movements. */
  id: string;
  call: Call;
  /** A call is uncertain when the connection was lost, and there is no key to repeat it with. */
  result: "booked" | "refused" | "validated" | "uncertain";
  /** Ids of the movements, for each answer that confirmed them. */
  answers: string[][];
}

/** Calls that make a load, also where they take long. */
const leastCalls = 250;

/** Clients that send calls at the same time. */
export class Clients {
  readonly outcomes: CallOutcome[] = [];
  /** Numbers of GraphQL errors and user errors, by code. */
  readonly codes = new Map<string, number>();
  readonly shop: Shop;
  readonly process: TestProcess;
  readonly #random = new Random(seed);

  constructor(shop: Shop, process: TestProcess) {
    this.shop = shop;
    this.process = process;
  }

  /** Lets clients take calls from a list, until it is empty, or until it is over and enough of them were sent. */
  async run(calls: Call[], clients: number, isOver: () => boolean): Promise<void> {
    const queue = calls.entries();
    const work = async () => {
      for (const [index, call] of queue) {
        if (isOver() && index >= leastCalls) return;
        this.outcomes.push(await this.#do(`call ${index}`, call));
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
  }

  async #do(id: string, call: Call): Promise<CallOutcome> {
    const key = call.key === "none" ? {} : { idempotencyKey: `key of ${id}` };
    const input = { ...this.#input(call), comment: id, validateOnly: call.validateOnly, ...key };
    const times = call.key === "twice" ? 2 : 1;
    const payloads = await Promise.all(Array.from({ length: times }, () => this.#send(call, input)));
    if (payloads.includes(null)) return { id, call, result: "uncertain", answers: [] };
    const refused = payloads.some((payload) => payload.userErrors.length > 0);
    if (call.key === "misused" && !refused && !call.validateOnly) {
      const other = await this.#send(call, { ...input, comment: `${id}, misused` });
      if (other.userErrors[0]?.code !== "IDEMPOTENCY_KEY_MISMATCH")
        throw new Error(`${id}: the key was used twice`);
    }
    const booked = payloads.filter(({ userErrors }) => userErrors.length === 0);
    const result = call.validateOnly ? "validated" : booked.length > 0 ? "booked" : "refused";
    const answers = booked.map(({ stockMovements }) =>
      stockMovements.map((movement: any) => movement.id.slice(-36)),
    );
    return { id, call, result, answers: result === "booked" ? answers : [] };
  }

  /** The payload; null when the result stays unknown. Repeats calls that may be repeated. */
  async #send(call: Call, input: object): Promise<any> {
    for (let attempt = 1; attempt <= 50; attempt++) {
      const answer = await this.shop.tryMutate(call.name, input, {
        select: "stockMovements { id }",
        process: this.process,
      });
      this.#count(answer);
      const { data, errors } = answer.body;
      if (!errors) return data[call.name];
      const hasKey = "idempotencyKey" in input;
      // A call that was done but could not be read may be repeated by its key
      const mayRepeat = errors.every(
        ({ extensions, path }: any) => extensions.retryable || (hasKey && path?.length > 1),
      );
      if (!mayRepeat) return null;
      await sleep(this.#random.between(0, 40)); // As clients do, not all at the same time
    }
    throw new Error("There was no answer after 50 attempts.");
  }

  #count({ body, codes }: HttpAnswer): void {
    const userErrors = Object.values(body.data ?? {}).flatMap((payload: any) => payload?.userErrors ?? []);
    for (const code of [...codes, ...userErrors.map(({ code }: any) => code)])
      this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }

  #input({ name, lines }: Call): object {
    const { id } = this.shop;
    const at = (place: string) =>
      place.includes("-") ? { binLocationId: id[place] } : { warehouseId: id[place] };
    const asInput = ({ product, batch, place, destination, quantity, expectedQuantity }: Line) => ({
      productId: id[product],
      ...(batch ? { batchId: id[batch] } : {}),
      ...(expectedQuantity === null ? {} : { expectedQuantity }),
      ...(name === "stockTransfer"
        ? { source: at(place), destination: at(destination) }
        : { place: at(place) }),
      ...(name === "stockAdjust" ? { delta: quantity } : { quantity }),
    });
    return { lines: lines.map(asInput) };
  }
}

/** What a load is to get over. */
export interface Losses {
  /** Connections that Postgres ended. */
  ended: number;
  /** How often all were cut on the network. */
  cuts: number;
}

/** Milliseconds after which a load is over, though it has met too little: what has failed is said then. */
const graceMs = 120_000;

/** Whether a load has taken its time, and has met what it should. */
export const overAfter = (seconds: number, hasMetAll: () => boolean): (() => boolean) => {
  const end = performance.now() + seconds * 1_000;
  return () => performance.now() > (hasMetAll() ? end : end + graceMs);
};

/**
 * Ends connections to the database until it is stopped, and counts them: in Postgres or on the network, so that answers of
 * committed calls are lost.
 */
export async function cutConnections(
  adminUrl: string,
  proxy: CuttableProxy,
  losses: Losses,
  isStopped: () => boolean,
): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  const random = new Random(seed);
  for (let round = 1; !isStopped(); round++) {
    // The first one early, for on a busy machine there are few rounds
    if (round % 12 !== 4) {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and starts_with(application_name, 'service') order by md5(pid || $1) limit 2`,
        [String(random.next())],
      );
      losses.ended += rowCount!;
    } else {
      proxy.cut();
      proxy.restore();
      losses.cuts++;
    }
    await sleep(random.between(100, 300)); // Often, but so that calls get through
  }
  await client.end();
}
