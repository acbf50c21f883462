import { MIMEType } from "node:util";

/** Refuses bytes of a request as text: 415 if their charset is unknown, 400 if they aren't valid in it. */
export class UnreadableText extends Error {
  override name = "UnreadableText";
  readonly status: 400 | 415;

  constructor(status: 400 | 415, message: string) {
    super(message);
    this.status = status;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Byte order marks. They override the declared charset, as in browsers. */
const byteOrderMarks: readonly [charset: string, ...bytes: number[]][] = [
  ["utf-8", 0xef, 0xbb, 0xbf],
  ["utf-16le", 0xff, 0xfe],
  ["utf-16be", 0xfe, 0xff],
];
/** Bytes of the longest mark. */
export const maxMarkBytes = 3;

/** Returns the charset that a `Content-Type` declares, or UTF-8. @throws {UnreadableText} if it is unknown */
export function declaredCharset(contentType = ""): string {
  let label: string;
  try {
    label = new MIMEType(contentType).params.get("charset") ?? "utf-8";
  } catch {
    return "utf-8"; // Not a valid type: code that needs one refuses it
  }
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw new UnreadableText(415, `The charset “${label.slice(0, 40)}” is not known here. Send UTF-8.`);
  }
}

/** Returns a decoder for a text with these first bytes. It drops a byte order mark, and throws on invalid bytes. */
export function decoderFor(start: Uint8Array, declared: string): TextDecoder {
  const mark = byteOrderMarks.find(([, ...bytes]) => bytes.every((byte, index) => start[index] === byte));
  const charset = mark?.[0] ?? declared;
  return charset === "utf-8" ? utf8 : new TextDecoder(charset, { fatal: true });
}

/** Returns the text of a whole body. @throws {UnreadableText} if the bytes are invalid in the charset */
export function decodeBody(bytes: Uint8Array, declared = "utf-8"): string {
  const decoder = decoderFor(bytes, declared);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new UnreadableText(400, `The body is not valid ${decoder.encoding.toUpperCase()}. ${advice}`);
  }
}

const advice = "Name another charset in its Content-Type, or send UTF-8.";

/** Whether the percent escapes of a form or URL are UTF-8: Node reads others as U+FFFD. */
export function hasUtf8Escapes(text: string): boolean {
  if (!/%[89a-f]/i.test(text)) return true;
  try {
    decodeURIComponent(text.replaceAll(/%(?![0-9a-f]{2})/gi, ""));
    return true;
  } catch {
    return false;
  }
}

/** Refuses a body that isn't UTF-8, for `verify` of Express's parsers: they would replace invalid bytes. */
export function verifyUtf8(_request: unknown, _response: unknown, body: Uint8Array, charset: string): void {
  if (charset === "utf-8" && !hasUtf8Escapes(decodeBody(body)))
    throw new UnreadableText(400, "The body has percent escapes that are not UTF-8.");
}
