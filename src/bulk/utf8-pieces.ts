import { isUtf8 } from "node:buffer";
import { decoderFor, maxMarkBytes } from "../lib/charset.ts";
import { maxRowBytes, tooLong } from "./json-lines.ts";
import { RefusedFile } from "./refused-file.ts";

const [lineFeed, carriageReturn] = [0x0a, 0x0d];
const isLineEnd = (code: number): boolean => code === lineFeed || code === carriageReturn;

/**
 * Converts a file to UTF-8. Each piece ends at the end of a line, so no character is cut.
 *
 * @param declared charset of the file, unless it begins with a byte order mark
 * @throws {RefusedFile} if a line is too long, or has bytes that are invalid in the charset
 */
export async function* utf8Pieces(bytes: AsyncIterable<Buffer>, declared: string): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  let toUtf8: ToUtf8 | undefined;
  for await (let some of bytes) {
    if (toUtf8 === undefined) {
      some = Buffer.concat([...begun, some]);
      [begun, begunBytes] = [[], 0];
      if (some.length >= maxMarkBytes) toUtf8 = new ToUtf8(decoderFor(some, declared));
    }
    const end = toUtf8?.endOfLines(some, begunBytes) ?? 0;
    if (end > 0) {
      yield toUtf8!.convert(Buffer.concat([...begun, some.subarray(0, end)]));
      [begun, begunBytes] = [[], 0];
    }
    begun.push(some.subarray(end));
    begunBytes += some.length - end;
    if (begunBytes > maxRowBytes) throw tooLong(toUtf8!.line);
  }
  const rest = Buffer.concat(begun);
  if (rest.length > 0) yield (toUtf8 ?? new ToUtf8(decoderFor(rest, declared))).convert(rest);
}

/** Converts pieces that begin and end with whole characters, and counts their lines. */
class ToUtf8 {
  readonly #decoder: TextDecoder;
  /** The line number at which the next piece begins. */
  line = 1;
  #isAfterReturn = false;

  constructor(decoder: TextDecoder) {
    this.#decoder = decoder;
  }

  /** Returns the offset after the last line break in some bytes; 0 without one. `before` counts earlier bytes of the piece. */
  endOfLines(bytes: Buffer, before: number): number {
    const { encoding } = this.#decoder;
    if (!encoding.startsWith("utf-16"))
      return Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1;
    const first = before % 2;
    for (let at = first + 2 * Math.floor((bytes.length - first) / 2) - 2; at >= first; at -= 2)
      if (isLineEnd(encoding === "utf-16le" ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at))) return at + 2;
    return 0;
  }

  convert(piece: Buffer): Buffer {
    const converted = this.#decode(piece);
    for (let at = 0; at < converted.length; at++) {
      const byte = converted[at]!;
      if (isLineEnd(byte) && !(byte === lineFeed && this.#isAfterReturn)) this.line++;
      this.#isAfterReturn = byte === carriageReturn;
    }
    return converted;
  }

  #decode(piece: Buffer): Buffer {
    const { encoding } = this.#decoder;
    if (encoding === "utf-8" && isUtf8(piece)) return piece;
    try {
      return Buffer.from(this.#decoder.decode(piece));
    } catch {
      const [before] = new TextDecoder(encoding).decode(piece).split("\ufffd");
      const line = this.line + (before!.match(/\r\n|\r|\n/g)?.length ?? 0);
      const example = "text/csv; charset=windows-1252";
      throw new RefusedFile(
        400,
        `Line ${line} is not valid ${encoding.toUpperCase()}. Name the charset of the file in its Content-Type, such as ${example}.`,
      );
    }
  }
}
