import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import type { Algorithm } from "@node-rs/argon2";

/** Shorter passwords aren't taken. */
export const minPasswordCharacters = 12;
/** Nor are longer ones, which would only cost time. */
const maxPasswordCharacters = 200;

// Of argon2id, what OWASP asks for at least: 19 MiB, two rounds
const costs = { algorithm: 2 as Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The hash by which a password is kept. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize("NFC"), costs);
}

let nobodys: Promise<string> | undefined;

/**
 * Whether a password is the right one.
 *
 * @param kept null when there is nobody of that name: it takes as long as with one, and is never right
 */
export async function isPassword(kept: string | null, password: string): Promise<boolean> {
  nobodys ??= hashPassword(randomPassword());
  const isRight = await verify(kept ?? (await nobodys), password.slice(0, maxPasswordCharacters));
  return isRight && kept !== null;
}

/** A password that nobody can guess, of groups that can be typed. */
export function randomPassword(): string {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789"; // 32, without 1, 0, l and o
  const text = Array.from(randomBytes(24), (byte) => letters[byte % 32]).join("");
  return text.match(/.{6}/g)!.join("-");
}

/** What keeps a new password from being taken; null when nothing does. */
export function complaintAbout(password: string, name: string): string | null {
  if ([...password].length < minPasswordCharacters)
    return `The new password needs at least ${minPasswordCharacters} characters.`;
  if (password.length > maxPasswordCharacters)
    return `The new password has more than ${maxPasswordCharacters} characters.`;
  if (password.toLowerCase().includes(name.toLowerCase()) && name.length > 3)
    return "The new password must not contain your name.";
  return new Set(password).size < 5 ? "The new password repeats too few characters." : null;
}
