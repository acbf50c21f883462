import { crc32 } from "node:zlib";
import { apiError } from "../errors/api-error.ts";
import { isUuid } from "../lib/uuid.ts";
import type { KeyPart } from "./key-forms.ts";
import { readPlace } from "./key-forms.ts";

/**
 * A stage of reading a list: rows up to `key` have been returned, except rows of transactions that were open then.
 */
export interface Stage {
  /** Primary key of the last row that was returned, or its place in another order, as a text (key-forms.ts). */
  key: string;
  /** The transactions that were open when it was read, as `erp.open_transactions()` spells them; "" for none. */
  open: string;
}

/**
 * The rows that a cursor's client has read. The first stage reaches farthest. While late rows are being returned, further
 * stages follow. Each reaches less far and was read later: up to its uuid, only rows of transactions that were still open
 * then are missing.
 */
export type Position = readonly [Stage, ...Stage[]];

/** The list that a cursor is for: its name, such as `Tag.products`, and the columns that order it. */
export interface CursorList {
  list: string;
  /** The name of the sort order, unless it is by primary key. */
  order?: string | undefined;
  key: readonly KeyPart[];
  /** Present if the list's cursors remember open transactions. Such a list has a uuid as key. */
  followed?: object | undefined;
}

/** The name of the default sort order of lists. */
export const defaultOrder = "ID_ASC";

// The text of a cursor before encoding: list and order, stages, checksum.
const form = /^(\w+\.\w+)(@\w+)?:(.*):([0-9a-f]{8})$/s;
// The same that erp.open_transactions() makes
const openForm = /^~\d{1,18}(\.\d{1,18})*(-\d{1,18}\.\d{1,18})?$/;
/** Maximum length of a cursor. Enough for any server: each connection may have a transaction open, at each stage. */
const maxCharacters = 500_000;
/**
 * Maximum number of stages. A further stage needs a transaction that ended while a reader was among late rows, and whose
 * rows all follow the previous stage's rows.
 */
const maxStages = 100;
const checksum = (text: string): string => crc32(text).toString(16).padStart(8, "0");

/** Returns a list and its sort order, as cursors spell them. */
export const listText = ({ list, order }: Pick<CursorList, "list" | "order">): string =>
  order === undefined ? list : `${list}@${order}`;

/** Returns a stage as cursors spell it. */
export const stageText = ({ key, open }: Stage): string => key + open;

/**
 * Makes the cursor of an entry.
 *
 * @param list the field that lists it, for example `Tag.products`, with its order; a cursor is valid only there
 * @param key the text of the primary key, or of the columns that the list is sorted by
 * @param open the transactions that were open when it was read, in a list that is followed
 * @param before the position at which the entry's page began
 */
export function encodeCursor(list: string, key: string, open = "", before: readonly Stage[] = []): string {
  // Uuids sort like their texts. Stages that reach less far than this entry are obsolete.
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
 * Reads the position in a cursor. Its entry may have been deleted.
 *
 * @throws CURSOR_INVALID if the cursor is damaged, belongs to another list, or has the form of another release
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
    throw apiError("CURSOR_INVALID", `The cursor belongs to the list ${foundList}, not to ${list}.`);
  }
  const foundOrder = at === "" ? undefined : at.slice(1);
  if (foundOrder !== order) {
    throw apiError(
      "CURSOR_INVALID",
      `The cursor belongs to the sort order ${foundOrder ?? defaultOrder}, not to ${order ?? defaultOrder}.`,
    );
  }
  if (followed) return readStages(stages) ?? refuseDamaged();
  return readPlace(key, stages) ? [{ key: stages, open: "" }] : refuseDamaged();
}

function refuseDamaged(): never {
  throw apiError(
    "CURSOR_INVALID",
    "The cursor is damaged or out of date. Start again without it, and pass cursors on unchanged.",
  );
}

/** Returns the open transactions of a cursor as a multirange of Postgres. */
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
