import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { AnswerTooLong } from "../postgres/answer-bound.ts";
import type { ReadText } from "../postgres/pipeline/read-text.ts";
import type { OnWritten } from "../postgres/pipeline/send-together.ts";
import type { PoolOptions } from "../postgres/pool.ts";
import type { OnUsed } from "../postgres/shared-pool.ts";
import { parsePosition, positionStatement, unknownPosition } from "../postgres/wal-position.ts";
import type { Position, Present } from "../postgres/wal-position.ts";
import type { Positions } from "./positions.ts";
import { answerMs, Replica } from "./replica.ts";
import type { Obstacle, Place } from "./replica.ts";

/** Milliseconds between two looks at the replicas. */
const lookEveryMs = 1_000;
/** Milliseconds to wait before a read is tried on its replica again, because that was behind. After the last, the primary is asked. */
const pausesMs = [1, 3];

/** Why a read was answered by the primary, or that it wasn't. */
export type ReadFrom = "replica" | `primary: ${"behind" | "no replica" | "failed" | "fresh"}`;

export interface ReplicasOptions {
  urls: readonly string[];
  /** Connections to each. */
  pool: PoolOptions;
  /** Milliseconds behind the primary from which on a replica isn't used. */
  maxLagMs: number;
  /** What clients have written. */
  positions: Positions;
}

export interface ReplicasParts {
  /** Connections to the primary, one of which is used each second. */
  primary: Pool;
  logger: Logger;
  onUsed: OnUsed;
  /** Whether a statement asks for what only the primary knows exactly. */
  needsPrimary: (text: string) => boolean;
}

/**
 * Reads a text like `ReadText`, from a replica if one shows all that the client has written.
 *
 * @param sentAlong a position that the request names; the replica has to show what was committed before that, too
 */
export type ReadWithOwnWrites = (
  ...read: [...Parameters<ReadText>, sentAlong: Position]
) => Promise<string | null>;

/**
 * Answers reads from standbys. A client always sees what it has written before: after a write its position is noted, and a
 * replica that isn't there yet refuses to read. Whatever goes wrong on a replica, the primary is asked; only statements that
 * take too long fail, as they would there.
 */
export class Replicas {
  readonly positions: Positions;
  readonly all: readonly Replica[];
  /** Reads by where they were answered. */
  readonly counts: Record<ReadFrom, number> = {
    replica: 0,
    "primary: behind": 0,
    "primary: no replica": 0,
    "primary: failed": 0,
    "primary: fresh": 0,
  };
  readonly #parts: ReplicasParts;
  readonly #maxLagMs: number;
  readonly #closing = new AbortController();
  readonly #watch: Promise<void>;
  /** When the primary was at which position, the latest last. */
  #history: { atMs: number; position: Position }[] = [];
  /** The timeline of the primary, when it was last asked. A standby of another one may have what the primary never had. */
  #timeline: number | null = null;
  /** How often to look at the primary before all reads needn't go there any more, after its timeline was another. */
  #looksOfOthers = 0;
  /** What all clients must see, and how often that was to be the present, and is. Once for what was written before the start. */
  #floor: { position: Position; wanted: number; reached: number } = { position: 0n, wanted: 1, reached: 0 };

  constructor({ urls, pool, maxLagMs, positions }: ReplicasOptions, parts: ReplicasParts) {
    this.positions = positions;
    this.#parts = parts;
    this.#maxLagMs = maxLagMs;
    this.all = urls.map((url) => new Replica(url, pool, parts));
    this.#watch = this.#run();
  }

  /** All reads from now on have to show what is committed now. */
  async requirePresent(): Promise<void> {
    this.#floor.wanted++;
    await this.#look().catch(() => {});
  }

  /** Notes that clients have written something, before a position; null when that isn't known. */
  readonly noteWritten: OnWritten = (clients, present) => {
    const position = present === null ? null : this.#positionIn(present);
    for (const client of clients)
      if (position === null) this.positions.noteUnknown(client);
      else this.positions.note(client, position);
  };

  /** Notes that a client has written something, and asks for the position. */
  async noteWrite(client: string): Promise<void> {
    try {
      this.positions.note(client, await this.#presentPosition());
    } catch {
      this.positions.noteUnknown(client);
    }
  }

  /**
   * Makes the reading function.
   *
   * @param fromPrimary reads from the primary
   */
  reader(fromPrimary: ReadText): ReadWithOwnWrites {
    return async (client, settings, statement, sentAlong) => {
      const read = [client, settings, statement] as const;
      const [data, from] = this.#parts.needsPrimary(statement.text)
        ? [null, "primary: fresh" as const]
        : await this.#tryReplica(client, max(sentAlong, this.positions.of(client), this.#wanted), read);
      this.counts[from]++;
      return data === null ? fromPrimary(...read) : data.text;
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watch;
    await Promise.all(this.all.map((replica) => replica.close()));
  }

  /** What all clients must see. */
  get #wanted(): Position {
    const { position, wanted, reached } = this.#floor;
    return wanted > reached ? unknownPosition : position;
  }

  async #tryReplica(
    client: string,
    position: Position,
    read: Readonly<Parameters<ReadText>>,
  ): Promise<[{ text: string | null } | null, ReadFrom]> {
    const replica = this.#choose(client);
    if (replica === null) return [null, "primary: no replica"];
    if (position === unknownPosition) return [null, "primary: behind"];
    for (let attempt = 0; ; attempt++) {
      try {
        return [{ text: await replica.read(position, ...read) }, "replica"];
      } catch (error) {
        const code = error instanceof Error && "code" in error ? error.code : undefined;
        if (code === timedOut || error instanceof AnswerTooLong) throw error;
        // Or a mistake of the statement itself, which the primary reports
        if (code !== notYetReplayed) return [null, "primary: failed"];
        if (attempt >= pausesMs.length) return [null, "primary: behind"];
        await sleep(pausesMs[attempt]);
      }
    }
  }

  /** A client keeps its replica while that is used: on another one, time could run backwards. */
  #choose(client: string): Replica | null {
    const used = this.all.filter(({ obstacle }) => obstacle === null);
    const rank = ({ name }: Replica) => crc32(`${client} ${name}`);
    return used.reduce<Replica | null>(
      (best, each) => (best && rank(best) >= rank(each) ? best : each),
      null,
    );
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#lookAtAll();
      await sleep(lookEveryMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #lookAtAll(): Promise<void> {
    await this.#look().catch(() => {}); // While the primary is away, replicas go on with what they have
    await Promise.all(this.all.map((replica) => this.#lookAt(replica)));
  }

  /** Asks the primary where it is. */
  async #look(): Promise<void> {
    const atMs = performance.now();
    const { wanted, reached } = this.#floor;
    const settle = this.positions.settling();
    const position = await this.#presentPosition();
    // Other processes of the file have looked by then, too
    if (this.#looksOfOthers > 0) this.#looksOfOthers--;
    else settle(position);
    if (wanted > reached) Object.assign(this.#floor, { position, reached: wanted });
    this.#history.push({ atMs, position });
    const keptMs = this.#maxLagMs + lookEveryMs + answerMs;
    this.#history = this.#history.filter((each) => each.atMs > atMs - keptMs);
  }

  /** The position after all that was committed on the primary. */
  async #presentPosition(): Promise<Position> {
    // Without its name: it would stay prepared, which not every pooler bears
    const { text } = positionStatement;
    const answer = await this.#parts.primary.query<[string, string]>({ text, rowMode: "array" });
    return this.#positionIn(answer.rows[0]!);
  }

  /** A position of the primary. When its timeline is a new one, no replica is read from until it is looked at. */
  #positionIn([position, timeline]: Present): Position {
    const before = this.#timeline;
    this.#timeline = Number.parseInt(timeline, 16);
    if (before !== null && before !== this.#timeline) {
      for (const replica of this.all) if (replica.obstacle === null) replica.obstruct("another timeline");
      this.positions.noteUnknownToAll();
      this.#looksOfOthers = 2;
    }
    return parsePosition(position)!;
  }

  async #lookAt(replica: Replica): Promise<void> {
    try {
      const place = await replica.look();
      replica.lagMs = place === null ? 0 : this.#lagOf(place.position);
      replica.obstruct(this.#obstacleTo(place, replica.lagMs));
    } catch (error) {
      replica.obstruct("away", error);
    }
  }

  #obstacleTo(place: Place | null, lagMs: number): Obstacle | null {
    if (place === null) return "no standby";
    if (this.#timeline !== null && place.timeline !== this.#timeline) return "another timeline";
    return lagMs > this.#maxLagMs ? "lagging" : null;
  }

  /** How long ago the primary was where a replica is now, in milliseconds. */
  #lagOf(position: Position): number {
    const missing = this.#history.find((each) => each.position > position);
    return missing === undefined ? 0 : performance.now() - missing.atMs;
  }
}

/** invalid_text_representation, of `guardedSettings`. */
const notYetReplayed = "22P02";
/** query_canceled: the primary would take as long, as an answer would be as long there. */
const timedOut = "57014";

const max = (...positions: [Position, ...Position[]]): Position =>
  positions.reduce((most, each) => (each > most ? each : most));
