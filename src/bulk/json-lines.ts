import type { FileRow } from "./chunks.ts";
import { RefusedFile } from "./refused-file.ts";

/** Bytes of a row. */
export const maxRowBytes = 1_048_576;

const lineFeed = 0x0a;
/** Space, tab and carriage return. */
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d;

/**
 * The rows of a file in UTF-8 with a JSON value on each line; blank lines don't count. Whether it is JSON is found out later.
 *
 * @throws {RefusedFile} when a line is too long
 */
export async function* jsonLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<FileRow[]> {
  let line = 1;
  let begun: Buffer[] = [];
  let begunBytes = 0;
  const rowOf = (end: Buffer): FileRow[] => {
    const row = textRow(line++, begun.length > 0 ? Buffer.concat([...begun, end]) : end);
    [begun, begunBytes] = [[], 0];
    return row;
  };
  for await (const some of bytes) {
    const rows: FileRow[] = [];
    let start = 0;
    for (;;) {
      if (begunBytes === 0) [start, line] = behindBlankLines(some, start, line);
      const end = some.indexOf(lineFeed, start);
      if (end < 0) break;
      rows.push(...rowOf(some.subarray(start, end)));
      start = end + 1;
    }
    if (start < some.length) begun.push(some.subarray(start));
    begunBytes += some.length - start;
    if (begunBytes > maxRowBytes) throw tooLong(line);
    if (rows.length > 0) yield rows;
  }
  if (begunBytes > 0) yield rowOf(Buffer.alloc(0));
}

/** Returns the start and number of the next line that isn't blank. A small file may have many blank lines, so skipping them is cheap. */
function behindBlankLines(bytes: Buffer, start: number, line: number): [start: number, line: number] {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === lineFeed) [start, line] = [at + 1, line + 1];
    else if (!isBlank(byte)) break;
  }
  return [start, line];
}

function textRow(line: number, bytes: Buffer): FileRow[] {
  if (bytes.length > maxRowBytes) throw tooLong(line);
  // Removes a byte order mark too
  const text = bytes.toString("utf8").trim();
  return text === "" ? [] : [{ line, text }];
}

export const tooLong = (line: number): RefusedFile =>
  new RefusedFile(413, `Line ${line} is longer than ${maxRowBytes} bytes.`);
