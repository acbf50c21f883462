import { crc32 } from "node:zlib";
import { apiError } from "../src/errors.ts";
import { isUuid } from "./global-id.ts";

// What a cursor says, before it is made opaque: list, id of the entry, checksum.
const form = /^([A-Za-z0-9]+\.[A-Za-z0-9]+):(.{36}):([0-9a-f]{8})$/;
const checksum = (text: string): string => crc32(text).toString(16).padStart(8, "0");

/**
 * The cursor of an entry.
 *
 * @param list the field that lists it, for example `Tag.products`; a cursor is good for that list only
 * @param uuid the primary key, which is what lists are ordered by
 */
export function encodeCursor(list: string, uuid: string): string {
  const position = `${list}:${uuid}`;
  return Buffer.from(`${position}:${checksum(position)}`).toString("base64url");
}

/**
 * The primary key of the entry that a cursor stands for.
 *
 * The entry itself may be gone: the key alone says where the page begins.
 *
 * @throws CURSOR_INVALID when the cursor is damaged, belongs to another list, or has a form of another release
 */
export function decodeCursor(list: string, cursor: string): string {
  const match = form.exec(Buffer.from(cursor, "base64url").toString());
  const [, foundList, uuid, sum] = match ?? [];
  // Decoding skips over characters that are not base64url; the round trip does not.
  if (
    !isUuid(uuid) ||
    checksum(`${foundList}:${uuid}`) !== sum ||
    encodeCursor(foundList!, uuid) !== cursor
  ) {
    throw apiError(
      "CURSOR_INVALID",
      "The cursor is damaged or out of date. Start again without `after`, and pass cursors on as they came.",
    );
  }
  if (foundList !== list) {
    throw apiError("CURSOR_INVALID", `The cursor belongs to the list ${foundList}; here is ${list}.`);
  }
  return uuid;
}
