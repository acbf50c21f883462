import { crc32 } from "node:zlib";
import { apiError } from "../errors/api-error.ts";
import { isUuid } from "../lib/uuid.ts";

/**
 * How far a list has been read: all rows up to `uuid` have been returned, except rows of transactions that were open
 * then.
 */
export interface Stage {
  /** Primary key of the last returned row. */
  uuid: string;
  /** Transactions that were open at that time, as `erp.open_transactions()` writes them; "" for none. */
  open: string;
}

/**
 * Which rows a cursor's client has. The first stage reaches farthest. While late rows are being returned, further
 * stages follow; each reaches less far and was read later: up to its uuid, only rows of transactions that were still
 * open then are missing.
 */
export type Position = readonly [Stage, ...Stage[]];

// The text of a cursor before encoding: list, stages, checksum.
const form = /^([A-Za-z0-9]+\.[A-Za-z0-9]+):([^:]{36,}):([0-9a-f]{8})$/;
// What erp.open_transactions() returns
const openForm = /^~\d{1,18}(\.\d{1,18})*(-\d{1,18}\.\d{1,18})?$/;
/** Enough for any server: each connection may have a transaction open, at each stage. */
const maxCharacters = 500_000;
/**
 * A further stage needs a transaction that ended while a reader was among late rows, all behind those of the stage
 * before.
 */
const maxStages = 100;
const checksum = (text: string): string => crc32(text).toString(16).padStart(8, "0");

/** A stage as cursors contain it. */
export const stageText = ({ uuid, open }: Stage): string => uuid + open;

/**
 * The cursor of an entry.
 *
 * @param list the field that lists it, for example `Tag.products`; a cursor is valid for that list only
 * @param uuid the primary key, by which lists are ordered
 * @param open the transactions that were open at the time, if the list is followed
 * @param before the position where its page began
 */
export function encodeCursor(list: string, uuid: string, open = "", before: readonly Stage[] = []): string {
  // Text order of uuids is their order as keys. Stages that reach less far than this entry are complete.
  const stages = [...before.filter((stage) => stage.uuid > uuid), { uuid, open }];
  const position = `${list}:${stages.map(stageText).join("/")}`;
  return Buffer.from(`${position}:${checksum(position)}`).toString("base64url");
}

function readStages(text: string): Position | null {
  const stages = text.split("/").map((stage) => ({ uuid: stage.slice(0, 36), open: stage.slice(36) }));
  const isRight = stages.every(
    ({ uuid, open }, index) =>
      isUuid(uuid) &&
      (open === "" ? index === stages.length - 1 : openForm.test(open)) &&
      (index === 0 || uuid < stages[index - 1]!.uuid),
  );
  return isRight && stages.length <= maxStages ? (stages as [Stage, ...Stage[]]) : null;
}

/**
 * The position in a cursor. Its entry may have been deleted.
 *
 * @param isFollowed whether cursors of this list remember open transactions
 * @throws CURSOR_INVALID when the cursor is damaged, belongs to another list, or was made by an incompatible release
 */
export function decodeCursor(list: string, cursor: string, isFollowed = false): Position {
  const match = cursor.length > maxCharacters ? null : form.exec(Buffer.from(cursor, "base64url").toString());
  const [text, foundList, stages, sum] = match ?? [];
  const position = stages === undefined ? null : readStages(stages);
  // Decoding skips characters that are not base64url; encoding it again finds them.
  if (
    !position ||
    checksum(`${foundList}:${stages}`) !== sum ||
    Buffer.from(text!).toString("base64url") !== cursor ||
    (!isFollowed && foundList === list && (position.length > 1 || position[0].open !== ""))
  ) {
    throw apiError(
      "CURSOR_INVALID",
      "The cursor is damaged or out of date. Start again without `after`, and pass cursors on as they came.",
    );
  }
  if (foundList !== list) {
    throw apiError("CURSOR_INVALID", `The cursor belongs to the list ${foundList}; here is ${list}.`);
  }
  return position;
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
