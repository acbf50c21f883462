import { ftruncateSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { unknownPosition } from "../postgres/wal-position.ts";
import type { Position } from "../postgres/wal-position.ts";

/** The number of slots. Clients are hashed into them; those in one slot wait for each other's writes, which does no harm. */
const slotCount = 4_096;
const bytesPerPosition = 8;

/** A file in which the processes of one machine share positions. */
export interface PositionsFile {
  /** The descriptor of the file, which has been unlinked. */
  descriptor: number;
  /** The column of this process: no other one writes to it. It takes over what an earlier process left there. */
  column: number;
  columns: number;
}

/** Creates such a file. It disappears when the last process with it open ends, even by a crash. @returns its descriptor */
export function makePositionsFile(columns: number): number {
  const folder = mkdtempSync(join(tmpdir(), "positions-"));
  const descriptor = openSync(join(folder, "positions"), "wx+", 0o600);
  rmSync(folder, { recursive: true });
  ftruncateSync(descriptor, slotCount * columns * bytesPerPosition);
  return descriptor;
}

/**
 * The position of each client's latest write, which a replica must have reached to show it. With a file, other processes know a
 * position as soon as it is noted, before the client gets its response. Noting takes two microseconds.
 */
export class Positions {
  readonly #own = new BigUint64Array(slotCount);
  /** Slots with a write whose position isn't known, each with the number of its latest write. */
  readonly #unknown = new Map<number, number>();
  #count = 0;
  readonly #file: (PositionsFile & { row: Buffer; word: Buffer }) | null;

  constructor(file: PositionsFile | null) {
    this.#file = file && {
      ...file,
      row: Buffer.alloc(file.columns * bytesPerPosition),
      word: Buffer.alloc(bytesPerPosition),
    };
    if (file) this.takeOver(file.column);
  }

  /** Takes over the column of an ended process, so that its unknown positions are settled too. */
  takeOver(column: number): void {
    const file = this.#file;
    if (!file) return;
    const rows = Buffer.alloc(slotCount * file.row.length);
    readSync(file.descriptor, rows, 0, rows.length, 0);
    for (let slot = 0; slot < slotCount; slot++) {
      const position = rows.readBigUInt64LE((slot * file.columns + column) * bytesPerPosition);
      if (position === 0n) continue;
      if (position === unknownPosition) this.#unknown.set(slot, ++this.#count);
      else if (position > this.#own[slot]!) this.#own[slot] = position;
      if (column === file.column) continue;
      this.#publish(slot, this.#unknown.has(slot) ? unknownPosition : this.#own[slot]!);
      this.#publish(slot, 0n, column);
    }
  }

  /** Notes that a client's write ended at a position or before. */
  note(client: string, position: Position): void {
    const slot = getSlot(client);
    if (this.#own[slot]! >= position) return;
    this.#own[slot] = position;
    if (!this.#unknown.has(slot)) this.#publish(slot, position);
  }

  /** Notes that a client may have written at an unknown position: only the primary shows it, until `settling` has it. */
  noteUnknown(client: string): void {
    const slot = getSlot(client);
    this.#unknown.set(slot, ++this.#count);
    this.#publish(slot, unknownPosition);
  }

  /** Makes all processes read from the primary for all clients, until `settling`. A single process needs no such note. */
  noteUnknownToAll(): void {
    if (!this.#file) return;
    for (let slot = 0; slot < slotCount; slot++) {
      this.#unknown.set(slot, ++this.#count);
      this.#publish(slot, unknownPosition);
    }
  }

  /**
   * Begins to resolve unknown positions.
   *
   * @returns a function that takes a position of the primary, read after this call
   */
  beginSettling(): (position: Position) => void {
    const count = this.#count;
    return (position) => {
      for (const [slot, number] of this.#unknown) {
        if (number > count) continue;
        this.#unknown.delete(slot);
        if (position > this.#own[slot]!) this.#own[slot] = position;
        this.#publish(slot, this.#own[slot]!);
      }
    };
  }

  /** Writes a position to the file, for other processes. */
  #publish(slot: number, position: Position, column = this.#file?.column): void {
    const file = this.#file;
    if (!file || column === undefined) return;
    file.word.writeBigUInt64LE(position);
    writeSync(
      file.descriptor,
      file.word,
      0,
      bytesPerPosition,
      (slot * file.columns + column) * bytesPerPosition,
    );
  }

  /** Returns the position that a replica must have reached to show all writes of a client; 0 if any replica will do. */
  get(client: string): Position {
    const slot = getSlot(client);
    const file = this.#file;
    let latest = this.#unknown.has(slot) ? unknownPosition : this.#own[slot]!;
    if (!file) return latest;
    readSync(file.descriptor, file.row, 0, file.row.length, slot * file.row.length);
    for (let column = 0; column < file.columns; column++) {
      const position = file.row.readBigUInt64LE(column * bytesPerPosition);
      if (position > latest) latest = position;
    }
    return latest;
  }
}

const getSlot = (client: string): number => crc32(client) % slotCount;
