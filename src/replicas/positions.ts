import { ftruncateSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { unknownPosition } from "../postgres/wal-position.ts";
import type { Position } from "../postgres/wal-position.ts";

/** Clients with the same slot wait for each other's writes, which does no harm. */
const slots = 4_096;
const bytesEach = 8;

/** Where several processes of one machine keep the positions together. */
export interface PositionsFile {
  /** That of the file, which has no name any more. */
  descriptor: number;
  /** The column of this process: no other one writes there. It takes over what an ended process has left in it. */
  column: number;
  columns: number;
}

/** Makes such a file. It ends with the last process that has it open, however that ends. @returns its descriptor */
export function makePositionsFile(columns: number): number {
  const folder = mkdtempSync(join(tmpdir(), "positions-"));
  const descriptor = openSync(join(folder, "positions"), "wx+", 0o600);
  rmSync(folder, { recursive: true });
  ftruncateSync(descriptor, slots * columns * bytesEach);
  return descriptor;
}

/**
 * What clients have written: of each the latest position, and so how far a replica must be to show it. With a file, other
 * processes know it as soon as it is noted, before the client has its answer; it takes two microseconds.
 */
export class Positions {
  readonly #own = new BigUint64Array(slots);
  /** Slots with a write whose position isn't known, each with the number of its latest. */
  readonly #unknown = new Map<number, number>();
  #count = 0;
  readonly #file: (PositionsFile & { row: Buffer; word: Buffer }) | null;

  constructor(file: PositionsFile | null) {
    this.#file = file && {
      ...file,
      row: Buffer.alloc(file.columns * bytesEach),
      word: Buffer.alloc(bytesEach),
    };
    if (file) this.takeOver(file.column);
  }

  /** Goes on with what the column of an ended process says, so that what is unknown there is settled, too. */
  takeOver(column: number): void {
    const file = this.#file;
    if (!file) return;
    const rows = Buffer.alloc(slots * file.row.length);
    readSync(file.descriptor, rows, 0, rows.length, 0);
    for (let slot = 0; slot < slots; slot++) {
      const position = rows.readBigUInt64LE((slot * file.columns + column) * bytesEach);
      if (position === 0n) continue;
      if (position === unknownPosition) this.#unknown.set(slot, ++this.#count);
      else if (position > this.#own[slot]!) this.#own[slot] = position;
      if (column === file.column) continue;
      this.#publish(slot, this.#unknown.has(slot) ? unknownPosition : this.#own[slot]!);
      this.#publish(slot, 0n, column);
    }
  }

  /** Notes that a client has written something before a position. */
  note(client: string, position: Position): void {
    const slot = slotOf(client);
    if (this.#own[slot]! >= position) return;
    this.#own[slot] = position;
    if (!this.#unknown.has(slot)) this.#publish(slot, position);
  }

  /** Notes that a client may have written something: only the primary shows it, until `settle`. */
  noteUnknown(client: string): void {
    const slot = slotOf(client);
    this.#unknown.set(slot, ++this.#count);
    this.#publish(slot, unknownPosition);
  }

  /** Has all processes read on the primary, whoever asks, until `settle`. Alone, a process needs no such word. */
  noteUnknownToAll(): void {
    if (!this.#file) return;
    for (let slot = 0; slot < slots; slot++) {
      this.#unknown.set(slot, ++this.#count);
      this.#publish(slot, unknownPosition);
    }
  }

  /**
   * Begins to find out the position behind all that is unknown.
   *
   * @returns takes the position that was asked for since
   */
  settling(): (position: Position) => void {
    const count = this.#count;
    return (position) => {
      for (const [slot, nth] of this.#unknown) {
        if (nth > count) continue;
        this.#unknown.delete(slot);
        if (position > this.#own[slot]!) this.#own[slot] = position;
        this.#publish(slot, this.#own[slot]!);
      }
    };
  }

  /** Shows other processes a position. */
  #publish(slot: number, position: Position, column = this.#file?.column): void {
    const file = this.#file;
    if (!file || column === undefined) return;
    file.word.writeBigUInt64LE(position);
    writeSync(file.descriptor, file.word, 0, bytesEach, (slot * file.columns + column) * bytesEach);
  }

  /** The position that a replica must have reached to show all that a client has written; 0 for any. */
  of(client: string): Position {
    const slot = slotOf(client);
    const file = this.#file;
    let latest = this.#unknown.has(slot) ? unknownPosition : this.#own[slot]!;
    if (!file) return latest;
    readSync(file.descriptor, file.row, 0, file.row.length, slot * file.row.length);
    for (let column = 0; column < file.columns; column++) {
      const position = file.row.readBigUInt64LE(column * bytesEach);
      if (position > latest) latest = position;
    }
    return latest;
  }
}

const slotOf = (client: string): number => crc32(client) % slots;
