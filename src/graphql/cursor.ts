import { crc32 } from "node:zlib";
import { apiError } from "../errors/api-error.ts";
import { isUuid } from "../lib/uuid.ts";

/**
 * How far a list has been read: rows up to `uuid` have been given, but for those of transactions that were open then.
 */
export interface Stage {
  /** Primary key of the last row that was given. */
  uuid: string;
  /** The transactions that were open when it was read, as `erp.open_transactions()` spells them; "" for none. */
  open: string;
}

/**
 * What a cursor says: which rows were given. The first stage goes farthest. While rows are given that came late, stages
 * follow it that go less far, each read later than the one before: rows up to theirs are all given, but for what was
 * still open by then.
 */
export type Position = readonly [Stage, ...Stage[]];

// What a cursor says, before it is made opaque: list, stages, checksum.
const form = /^([A-Za-z0-9]+\.[A-Za-z0-9]+):([^:]{36,}):([0-9a-f]{8})$/;
// The same that erp.open_transactions() makes
const openForm = /^~\d{1,18}(\.\d{1,18})*(-\d{1,18}\.\d{1,18})?$/;
/** Each connection may have a transaction open, at each stage. More than this no server has. */
const maxCharacters = 500_000;
/** Each stage needs a transaction that ended while a reader stood among late rows, all behind those of the one before. */
const maxStages = 100;
const checksum = (text: string): string => crc32(text).toString(16).padStart(8, "0");

/** A stage as it stands in cursors. */
export const stageText = ({ uuid, open }: Stage): string => uuid + open;

/**
 * The cursor of an entry.
 *
 * @param list the field that lists it, for example `Tag.products`; a cursor is good for that list only
 * @param uuid the primary key, which is what lists are ordered by
 * @param open the transactions that were open when it was read, in a list that is followed
 * @param before where the page began that it is on
 */
export function encodeCursor(list: string, uuid: string, open = "", before: readonly Stage[] = []): string {
  // Keys are ordered as their texts are. Of what goes less far than this entry, nothing is left to say.
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
 * What a cursor says. The entry that it belongs to may be gone.
 *
 * @param isFollowed whether the list is one whose cursors remember open transactions
 * @throws CURSOR_INVALID when the cursor is damaged, belongs to another list, or has a form of another release
 */
export function decodeCursor(list: string, cursor: string, isFollowed = false): Position {
  const match = cursor.length > maxCharacters ? null : form.exec(Buffer.from(cursor, "base64url").toString());
  const [text, foundList, stages, sum] = match ?? [];
  const position = stages === undefined ? null : readStages(stages);
  // Decoding skips over characters that are not base64url; the round trip does not.
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

/** Transactions as cursors spell them, as a multirange of Postgres. */
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
