import type { FileRow } from "./chunks.ts";
import { RefusedFile } from "./refused-file.ts";

/** Most bytes of a row. */
export const maxRowBytes = 1_048_576;

const lineFeed = 0x0a;
/** Whether a byte is a space, a tab or a carriage return. */
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d;

/**
 * Reads the rows of a file in UTF-8, which has a JSON value on each line. Blank lines are skipped. The JSON is parsed later.
 *
 * @throws {RefusedFile} if a line is too long
 */
export async function* jsonLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<FileRow[]> {
  let line = 1;
  let begun: Buffer[] = [];
  let begunBytes = 0;
  const rowOf = (end: Buffer): FileRow[] => {
    const row = parseLine(line++, begun.length > 0 ? Buffer.concat([...begun, end]) : end);
    [begun, begunBytes] = [[], 0];
    return row;
  };
  for await (const some of bytes) {
    const rows: FileRow[] = [];
    let start = 0;
    for (;;) {
      if (begunBytes === 0) [start, line] = skipBlankLines(some, start, line);
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

/** Skips blank lines cheaply, because a small compressed file may have very many. Returns the next line's start and number. */
function skipBlankLines(bytes: Buffer, start: number, line: number): [start: number, line: number] {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === lineFeed) [start, line] = [at + 1, line + 1];
    else if (!isBlank(byte)) break;
  }
  return [start, line];
}

function parseLine(line: number, bytes: Buffer): FileRow[] {
  if (bytes.length > maxRowBytes) throw tooLong(line);
  // trim also removes a byte order mark
  const text = bytes.toString("utf8").trim();
  return text === "" ? [] : [{ line, text }];
}

export const tooLong = (line: number): RefusedFile =>
  new RefusedFile(413, `Line ${line} is longer than ${maxRowBytes} bytes.`);
