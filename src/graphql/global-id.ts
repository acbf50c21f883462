import { apiError } from "../errors/api-error.ts";
import type { KeyPart } from "./key-forms.ts";
import { describeKey, readKey, uuidKey } from "./key-forms.ts";

const globalId = /^gid:\/\/service\/([A-Z]\w*)\/(.*)$/s;

/** A global id, in its parts. */
export interface GlobalId {
  typeName: string;
  /** The text of the key (key-forms.ts). */
  key: string;
}

/** Returns the key columns of a type; undefined for an unknown type. */
export type KeyOf = (typeName: string) => readonly KeyPart[] | undefined;

/** Returns the beginning of every global id of a type. */
export const globalIdPrefix = (typeName: string): string => `gid://service/${typeName}/`;

/**
 * Returns the global id of a row.
 *
 * @param key the text of its key
 */
export const encodeGlobalId = (typeName: string, key: string): string => globalIdPrefix(typeName) + key;

/** A type with its article: a Product, an Order. */
const withArticle = (typeName: string): string => `${/^[AEIO]/.test(typeName) ? "an" : "a"} ${typeName}`;

/** Splits a text with the form of a global id into type and key; null for other texts. The key may still be invalid. */
export function splitGlobalId(text: unknown): GlobalId | null {
  const match = typeof text === "string" ? globalId.exec(text) : null;
  return match && { typeName: match[1]!, key: match[2]! };
}

/**
 * Returns the values of the key columns in the global id of a row of one type.
 *
 * @throws BAD_USER_INPUT if the text is not a global id, or has another type
 */
export function requireKey(typeName: string, parts: readonly KeyPart[], text: unknown): string[] {
  const id = splitGlobalId(text);
  if (id && id.typeName !== typeName)
    throw apiError(
      "BAD_USER_INPUT",
      `Expected the id of ${withArticle(typeName)}, but got one of ${withArticle(id.typeName)}.`,
    );
  const values = id && readKey(parts, id.key);
  return values ?? refuse(text, typeName, parts);
}

/**
 * Returns the type of a global id, with the values of its key columns. Without a GraphQL type, the key is a uuid.
 *
 * @throws BAD_USER_INPUT if the text is not a global id
 */
export function requireGlobalId(text: unknown, keyOf: KeyOf): { typeName: string; values: string[] } {
  const id = splitGlobalId(text);
  if (!id) return refuse(text, "<Type>", uuidKey);
  const parts = keyOf(id.typeName) ?? uuidKey;
  const values = readKey(parts, id.key);
  return values ? { typeName: id.typeName, values } : refuse(text, id.typeName, parts);
}

function refuse(text: unknown, typeName: string, parts: readonly KeyPart[]): never {
  // Shortened, because it comes from the client and goes back and into the log.
  const shown = JSON.stringify(String(text).slice(0, 80));
  throw apiError(
    "BAD_USER_INPUT",
    `${shown} is not an id. Ids have the form ${globalIdPrefix(typeName)}${describeKey(parts)}.`,
  );
}
