import { quoteLiteral } from "./json-text.ts";

/** A stage of a page's cursor: SQL expressions of its key, and of its text in cursors. */
export interface EarlierStage {
  key: string;
  text: string;
}

/**
 * Returns SQL of the JSON text of a row's cursor, the same that `encodeCursor` returns (src/graphql/cursor.ts).
 *
 * @param key SQL of the row's key, a uuid or the text of a key; if it is null, so is the cursor
 * @param open SQL of the open transactions; null for lists that clients can't follow
 * @param earlierStages the stages of the cursor that the row's page follows
 */
export function buildCursor(
  list: string,
  key: string,
  open: string | null = null,
  earlierStages: readonly EarlierStage[] = [],
): string {
  const prefixes = earlierStages.map(
    ({ key: other, text }) => `case when ${other}>${key} then ${text}||'/' else '' end`,
  );
  const position = [quoteLiteral(`${list}:`), ...prefixes, `${key}::text`, ...(open ? [open] : [])].join(
    "||",
  );
  const checksum = `lpad(to_hex(crc32(convert_to(${position},'UTF8'))),8,'0')`;
  const base64 = `encode(convert_to(${position}||':'||${checksum},'UTF8'),'base64')`;
  // Becomes base64url, without the line breaks that Postgres inserts
  return `'"'||translate(${base64},E'+/=\\n','-_')||'"'`;
}
