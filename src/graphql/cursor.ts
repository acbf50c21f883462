import { crc32 } from "node:zlib";
import { apiError } from "../errors/api-error.ts";
import { isUuid } from "../lib/uuid.ts";
import type { KeyPart } from "./key-forms.ts";
import { readPlace } from "./key-forms.ts";

/**
 * How far a list has been read: rows up to `key` have been given, but for those of transactions that were open then.
 */
export interface Stage {
  /** Primary key of the last row that was given, or its place in another order, as a text (key-forms.ts). */
  key: string;
  /** The transactions that were open when it was read, as `erp.open_transactions()` spells them; "" for none. */
  open: string;
}

/**
 * Which rows a cursor's client has. The first stage reaches farthest. While late rows are being returned, further
 * stages follow; each reaches less far and was read later: up to its uuid, only rows of transactions that were still
 * open then are missing.
 */
export type Position = readonly [Stage, ...Stage[]];

/** The list that a cursor is for: its name, such as `Tag.products`, and the columns that order it. */
export interface CursorList {
  list: string;
  /** The name of the order, unless it is that of the primary key. */
  order?: string | undefined;
  key: readonly KeyPart[];
  /** Its cursors remember open transactions, if it is there. Such a list has a uuid for a key. */
  followed?: object | undefined;
}

/** The name of the order that lists have unless another one is asked for. */
export const defaultOrder = "ID_ASC";

// What a cursor says, before it is made opaque: list and order, stages, checksum.
const form = /^(\w+\.\w+)(@\w+)?:(.*):([0-9a-f]{8})$/s;
// The same that erp.open_transactions() makes
const openForm = /^~\d{1,18}(\.\d{1,18})*(-\d{1,18}\.\d{1,18})?$/;
/** Enough for any server: each connection may have a transaction open, at each stage. */
const maxCharacters = 500_000;
/**
 * A further stage needs a transaction that ended while a reader was among late rows, all behind those of the stage
 * before.
 */
const maxStages = 100;
const checksum = (text: string): string => crc32(text).toString(16).padStart(8, "0");

/** A list and its order, as they stand in cursors. */
export const listText = ({ list, order }: Pick<CursorList, "list" | "order">): string =>
  order === undefined ? list : `${list}@${order}`;

/** A stage as it stands in cursors. */
export const stageText = ({ key, open }: Stage): string => key + open;

/**
 * The cursor of an entry.
 *
 * @param list the field that lists it, for example `Tag.products`, with its order; a cursor is good for that only
 * @param key the text of the primary key, or of the columns that the list is ordered by
 * @param open the transactions that were open when it was read, in a list that is followed
 * @param before where the page began that it is on
 */
export function encodeCursor(list: string, key: string, open = "", before: readonly Stage[] = []): string {
  // Uuids are ordered as their texts are. Of what goes less far than this entry, nothing is left to say.
  const stages = [...before.filter((stage) => stage.key > key), { key, open }];
  const position = `${list}:${stages.map(stageText).join("/")}`;
  return Buffer.from(`${position}:${checksum(position)}`).toString("base64url");
}

function readStages(text: string): Position | null {
  const stages = text.split("/").map((stage) => ({ key: stage.slice(0, 36), open: stage.slice(36) }));
  const isRight = stages.every(
    ({ key, open }, index) =>
      isUuid(key) &&
      (open === "" ? index === stages.length - 1 : openForm.test(open)) &&
      (index === 0 || key < stages[index - 1]!.key),
  );
  return isRight && stages.length <= maxStages ? (stages as [Stage, ...Stage[]]) : null;
}

/**
 * The position in a cursor. Its entry may have been deleted.
 *
 * @throws CURSOR_INVALID when the cursor is damaged, belongs to another list, or has a form of another release
 */
export function decodeCursor({ list, order, key, followed }: CursorList, cursor: string): Position {
  const match = cursor.length > maxCharacters ? null : form.exec(Buffer.from(cursor, "base64url").toString());
  const [text, foundList, at = "", stages, sum] = match ?? [];
  // Decoding skips over characters that are not base64url; the round trip does not.
  if (
    stages === undefined ||
    checksum(`${foundList}${at}:${stages}`) !== sum ||
    Buffer.from(text!).toString("base64url") !== cursor
  )
    return refuseDamaged();
  if (foundList !== list) {
    throw apiError("CURSOR_INVALID", `The cursor belongs to the list ${foundList}; here is ${list}.`);
  }
  const foundOrder = at === "" ? undefined : at.slice(1);
  if (foundOrder !== order) {
    throw apiError(
      "CURSOR_INVALID",
      `The cursor belongs to the order ${foundOrder ?? defaultOrder}; here is ${order ?? defaultOrder}.`,
    );
  }
  if (followed) return readStages(stages) ?? refuseDamaged();
  return readPlace(key, stages) ? [{ key: stages, open: "" }] : refuseDamaged();
}

function refuseDamaged(): never {
  throw apiError(
    "CURSOR_INVALID",
    "The cursor is damaged or out of date. Start again without it, and pass cursors on as they came.",
  );
}

/** Transactions of a cursor as a multirange of Postgres. */
export function openRanges(open: string): string {
  const [, oldest, offsets, first, count] = /^~(\d+)((?:\.\d+)*)(?:-(\d+)\.(\d+))?$/.exec(open) ?? [];
  if (oldest === undefined) return "{}";
  const numbers = offsets!.split(".").slice(1);
  const ranges = numbers.map((offset): [bigint, bigint] => [BigInt(offset), 1n]);
  if (first !== undefined) ranges.push([BigInt(first), BigInt(count!)]);
  const spelled = ranges.map(([offset, length]) => {
    const start = BigInt(oldest) + offset;
    return `[${start},${start + length})`;
  });
  return `{${spelled.join()}}`;
}
