import { MIMEType } from "node:util";

/** Why bytes of a request aren't taken as text: 415 when their charset isn't known, 400 when they aren't of it. */
export class UnreadableText extends Error {
  override name = "UnreadableText";
  readonly status: 400 | 415;

  constructor(status: 400 | 415, message: string) {
    super(message);
    this.status = status;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Byte order marks. They count more than what was declared, as in browsers. */
const marks: readonly [charset: string, ...bytes: number[]][] = [
  ["utf-8", 0xef, 0xbb, 0xbf],
  ["utf-16le", 0xff, 0xfe],
  ["utf-16be", 0xfe, 0xff],
];
/** Bytes of the longest mark. */
export const markBytes = 3;

/** The charset that a `Content-Type` declares, UTF-8 unless it does. @throws {UnreadableText} when it isn't known */
export function declaredCharset(contentType = ""): string {
  let label: string;
  try {
    label = new MIMEType(contentType).params.get("charset") ?? "utf-8";
  } catch {
    return "utf-8"; // No type at all: what needs one refuses it
  }
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw new UnreadableText(415, `The charset “${label.slice(0, 40)}” is not known here. Send UTF-8.`);
  }
}

/** Returns a decoder for a text with these first bytes, without its byte order mark. It throws on bytes that aren't of its charset. */
export function decoderFor(start: Uint8Array, declared: string): TextDecoder {
  const mark = marks.find(([, ...bytes]) => bytes.every((byte, index) => start[index] === byte));
  const charset = mark?.[0] ?? declared;
  return charset === "utf-8" ? utf8 : new TextDecoder(charset, { fatal: true });
}

/** The text of a whole body. @throws {UnreadableText} when the bytes aren't of the charset */
export function textOf(bytes: Uint8Array, declared = "utf-8"): string {
  const decoder = decoderFor(bytes, declared);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new UnreadableText(400, `The body is not valid ${decoder.encoding.toUpperCase()}. ${advice}`);
  }
}

const advice = "Name another charset in its Content-Type, or send UTF-8.";

/** Whether the escapes of a form or an address are of UTF-8: Node reads others as U+FFFD. */
export function hasUtf8Escapes(text: string): boolean {
  if (!/%[89a-f]/i.test(text)) return true;
  try {
    decodeURIComponent(text.replaceAll(/%(?![0-9a-f]{2})/gi, ""));
    return true;
  } catch {
    return false;
  }
}

/** Refuses a body that isn't UTF-8, for `verify` of Express's parsers: they would replace what they can't read. */
export function verifyUtf8(_request: unknown, _response: unknown, body: Uint8Array, charset: string): void {
  if (charset === "utf-8" && !hasUtf8Escapes(textOf(body)))
    throw new UnreadableText(400, "The body has escapes that are not of UTF-8.");
}
