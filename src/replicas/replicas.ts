import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { ResponseTooLong } from "../postgres/answer-bound.ts";
import type { ReadText } from "../postgres/pipeline/read-text.ts";
import type { OnWritten } from "../postgres/pipeline/send-together.ts";
import type { PoolOptions } from "../postgres/pool.ts";
import type { OnUsed } from "../postgres/shared-pool.ts";
import { parsePosition, positionStatement, unknownPosition } from "../postgres/wal-position.ts";
import type { Position, PrimaryPosition } from "../postgres/wal-position.ts";
import type { Positions } from "./positions.ts";
import { responseTimeoutMs, Replica } from "./replica.ts";
import type { Obstacle, StandbyState } from "./replica.ts";

/** Milliseconds between two health checks of the replicas. */
const checkIntervalMs = 1_000;
/** Milliseconds before each retry on a replica that is behind. After the last one, the primary answers. */
const retryPausesMs = [1, 3];

/** The server that answered a read: a replica, or the primary with the reason. */
export type ReadFrom = "replica" | `primary: ${"behind" | "no replica" | "failed" | "fresh"}`;

export interface ReplicasOptions {
  urls: readonly string[];
  /** Connections to each. */
  pool: PoolOptions;
  /** The greatest lag in milliseconds of a replica that is used. */
  maxLagMs: number;
  /** The positions of clients' writes. */
  positions: Positions;
}

export interface ReplicasDependencies {
  /** Connections to the primary. The health check takes one each second. */
  primary: Pool;
  logger: Logger;
  onUsed: OnUsed;
  /** Whether a statement reads something that only the primary knows exactly. */
  needsPrimary: (text: string) => boolean;
}

/**
 * Reads a text like `ReadText`, from a replica if one shows all writes of the client.
 *
 * @param requestPosition a position from the request; the replica has to show all that was committed before it, too
 */
export type ReadFromReplica = (
  ...read: [...Parameters<ReadText>, requestPosition: Position]
) => Promise<string | null>;

/**
 * Answers reads from standbys. A client always sees its own writes: each write's position is noted, and a replica that
 * hasn't reached it refuses to read. If anything goes wrong on a replica, the primary answers. Only statements that take too
 * long, or return too much, fail: they would fail there too.
 */
export class Replicas {
  readonly positions: Positions;
  readonly all: readonly Replica[];
  /** Counts of reads by the server that answered. */
  readonly counts: Record<ReadFrom, number> = {
    replica: 0,
    "primary: behind": 0,
    "primary: no replica": 0,
    "primary: failed": 0,
    "primary: fresh": 0,
  };
  readonly #parts: ReplicasDependencies;
  readonly #maxLagMs: number;
  readonly #closing = new AbortController();
  readonly #watch: Promise<void>;
  /** Positions of the primary with the time, oldest first. */
  #history: { atMs: number; position: Position }[] = [];
  /** The primary's timeline at the last health check. A standby on another timeline may have data that the primary never had. */
  #timeline: number | null = null;
  /** The health checks of the primary that remain, after a change of its timeline, until replicas may be used again. */
  #checksUntilSettled = 0;
  /** The position that all clients must see. `wanted` counts demands for the present one, the start being the first; `reached` those met. */
  #floor: { position: Position; wanted: number; reached: number } = { position: 0n, wanted: 1, reached: 0 };

  constructor({ urls, pool, maxLagMs, positions }: ReplicasOptions, parts: ReplicasDependencies) {
    this.positions = positions;
    this.#parts = parts;
    this.#maxLagMs = maxLagMs;
    this.all = urls.map((url) => new Replica(url, pool, parts));
    this.#watch = this.#run();
  }

  /** Makes all reads from now on show everything that is committed now. */
  async requireCurrentData(): Promise<void> {
    this.#floor.wanted++;
    await this.#checkPrimary().catch(() => {});
  }

  /** Notes that clients have written, up to a position; null if it isn't known. */
  readonly noteWritten: OnWritten = (clients, present) => {
    const position = present === null ? null : this.#acceptPosition(present);
    for (const client of clients)
      if (position === null) this.positions.noteUnknown(client);
      else this.positions.note(client, position);
  };

  /** Notes that a client has written, and reads the position from the primary. */
  async noteWrite(client: string): Promise<void> {
    try {
      this.positions.note(client, await this.#readPosition());
    } catch {
      this.positions.noteUnknown(client);
    }
  }

  /**
   * Returns a function that reads from a replica or the primary.
   *
   * @param fromPrimary reads from the primary
   */
  reader(fromPrimary: ReadText): ReadFromReplica {
    return async (client, settings, statement, requestPosition) => {
      const read = [client, settings, statement] as const;
      const position = max(requestPosition, this.positions.get(client), this.#required);
      const [data, from] = this.#parts.needsPrimary(statement.text)
        ? [null, "primary: fresh" as const]
        : await this.#tryReplica(client, position, read);
      this.counts[from]++;
      return data === null ? fromPrimary(...read) : data.text;
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watch;
    await Promise.all(this.all.map((replica) => replica.close()));
  }

  /** The position that all clients must see. */
  get #required(): Position {
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
        if (code === canceledCode || error instanceof ResponseTooLong) throw error;
        // The replica failed, or the statement has a mistake, which the primary reports
        if (code !== notReplayedCode) return [null, "primary: failed"];
        if (attempt >= retryPausesMs.length) return [null, "primary: behind"];
        await sleep(retryPausesMs[attempt]);
      }
    }
  }

  /** Returns the replica for a client, always the same while it is used: another one might show older data. */
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
      await this.#checkAll();
      await sleep(checkIntervalMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #checkAll(): Promise<void> {
    await this.#checkPrimary().catch(() => {}); // While the primary can't be reached, replicas go on with what they have
    await Promise.all(this.all.map((replica) => this.#checkReplica(replica)));
  }

  /** Reads the position of the primary. */
  async #checkPrimary(): Promise<void> {
    const atMs = performance.now();
    const { wanted, reached } = this.#floor;
    const settle = this.positions.beginSettling();
    const position = await this.#readPosition();
    // By then, other processes with the same file have checked the primary too
    if (this.#checksUntilSettled > 0) this.#checksUntilSettled--;
    else settle(position);
    if (wanted > reached) Object.assign(this.#floor, { position, reached: wanted });
    this.#history.push({ atMs, position });
    const keptMs = this.#maxLagMs + checkIntervalMs + responseTimeoutMs;
    this.#history = this.#history.filter((each) => each.atMs > atMs - keptMs);
  }

  /** Reads the position after all that is committed on the primary. */
  async #readPosition(): Promise<Position> {
    // Without its name: it would stay prepared, which not every pooler supports
    const { text } = positionStatement;
    const answer = await this.#parts.primary.query<[string, string]>({ text, rowMode: "array" });
    return this.#acceptPosition(answer.rows[0]!);
  }

  /** Returns a position of the primary. If the timeline is new, replicas aren't used until their next health check. */
  #acceptPosition([position, timeline]: PrimaryPosition): Position {
    const previous = this.#timeline;
    this.#timeline = Number.parseInt(timeline, 16);
    if (previous !== null && previous !== this.#timeline) {
      for (const replica of this.all) if (replica.obstacle === null) replica.setObstacle("another timeline");
      this.positions.noteUnknownToAll();
      this.#checksUntilSettled = 2;
    }
    return parsePosition(position)!;
  }

  async #checkReplica(replica: Replica): Promise<void> {
    try {
      const state = await replica.checkHealth();
      replica.lagMs = state === null ? 0 : this.#getLagMs(state.position);
      replica.setObstacle(this.#findObstacle(state, replica.lagMs));
    } catch (error) {
      replica.setObstacle("away", error);
    }
  }

  #findObstacle(state: StandbyState | null, lagMs: number): Obstacle | null {
    if (state === null) return "no standby";
    if (this.#timeline !== null && state.timeline !== this.#timeline) return "another timeline";
    return lagMs > this.#maxLagMs ? "lagging" : null;
  }

  /** Returns how many milliseconds ago the primary was at a replica's position. */
  #getLagMs(position: Position): number {
    const next = this.#history.find((each) => each.position > position);
    return next === undefined ? 0 : performance.now() - next.atMs;
  }
}

/** The error code invalid_text_representation, raised by `guardedSettings`. */
const notReplayedCode = "22P02";
/** The error code query_canceled: the statement would take as long on the primary. */
const canceledCode = "57014";

const max = (...positions: [Position, ...Position[]]): Position =>
  positions.reduce((most, each) => (each > most ? each : most));
