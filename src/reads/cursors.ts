import { quoted } from "./json-text.ts";

/** A stage of a page's cursor: SQL expressions of its key, and of its text in cursors. */
export interface Before {
  key: string;
  text: string;
}

/**
 * The JSON text of the cursor of a row, the same as `encodeCursor` makes (src/graphql/cursor.ts).
 *
 * @param key SQL expression of the row's key, a uuid or the text of one; with null the cursor is null
 * @param open SQL expression of the transactions that are open; null in lists that are not followed
 * @param before where the page began that the row is on
 */
export function cursorExpression(
  list: string,
  key: string,
  open: string | null = null,
  before: readonly Before[] = [],
): string {
  const farther = before.map(
    ({ key: other, text }) => `case when ${other}>${key} then ${text}||'/' else '' end`,
  );
  const position = [quoted(`${list}:`), ...farther, `${key}::text`, ...(open ? [open] : [])].join("||");
  const checksum = `lpad(to_hex(crc32(convert_to(${position},'UTF8'))),8,'0')`;
  const base64 = `encode(convert_to(${position}||':'||${checksum},'UTF8'),'base64')`;
  // As in base64url, without the line breaks that Postgres inserts
  return `'"'||translate(${base64},E'+/=\\n','-_')||'"'`;
}
