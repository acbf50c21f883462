import { apiError } from "../errors/api-error.ts";
import { isUuid } from "../lib/uuid.ts";

const globalId = /^gid:\/\/service\/([A-Z][A-Za-z0-9]*)\/(.{36})$/;

/** The beginning of every global id of a type. */
export const globalIdPrefix = (typeName: string): string => `gid://service/${typeName}/`;

/** The global id of a row. */
export const encodeGlobalId = (typeName: string, id: string): string => globalIdPrefix(typeName) + id;

/**
 * Type and uuid of a global id, or null if the text is none. Clients compare ids as text, so a uuid has exactly one
 * spelling.
 */
export function decodeGlobalId(text: unknown): { typeName: string; uuid: string } | null {
  const match = typeof text === "string" ? globalId.exec(text) : null;
  return match && isUuid(match[2]) ? { typeName: match[1]!, uuid: match[2] } : null;
}

/**
 * The uuid in the global id of a row of one type.
 *
 * @throws BAD_USER_INPUT when the text is no global id, or one of another type
 */
export function requireUuid(typeName: string, text: unknown): string {
  const decoded = requireGlobalId(text, typeName);
  if (decoded.typeName === typeName) return decoded.uuid;
  throw apiError("BAD_USER_INPUT", `Expected the id of a ${typeName}, but got one of a ${decoded.typeName}.`);
}

/**
 * Type and uuid of a global id.
 *
 * @throws BAD_USER_INPUT when the text is no global id
 */
export function requireGlobalId(text: unknown, typeName = "<Type>"): { typeName: string; uuid: string } {
  const decoded = decodeGlobalId(text);
  if (decoded) return decoded;
  // Shortened, because it is the client's input and goes into the answer and the log.
  const shown = JSON.stringify(String(text).slice(0, 80));
  throw apiError(
    "BAD_USER_INPUT",
    `${shown} is not an id. Ids have the form ${globalIdPrefix(typeName)}<uuid>.`,
  );
}
