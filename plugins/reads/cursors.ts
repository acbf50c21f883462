import { quoted } from "./json-text.ts";

/**
 * The JSON text of the cursor of a row: the same as `encodeCursor` makes (plugins/cursor.ts).
 *
 * @param key SQL expression of the row's key, a uuid; with null the cursor is null
 */
export function cursorExpression(list: string, key: string): string {
  const position = `${quoted(`${list}:`)}||${key}::text`;
  const checksum = `lpad(to_hex(crc32(convert_to(${position},'UTF8'))),8,'0')`;
  const base64 = `encode(convert_to(${position}||':'||${checksum},'UTF8'),'base64')`;
  // As base64url has it, and without the line breaks that Postgres puts in
  return `'"'||translate(${base64},E'+/=\\n','-_')||'"'`;
}
