import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import type { Algorithm } from "@node-rs/argon2";

/** The minimum length of a password. */
export const minPasswordCharacters = 12;
/** The maximum length of a password: longer ones would only cost time. */
const maxPasswordCharacters = 200;

// OWASP's minimum parameters for argon2id: 19 MiB, two rounds
const costs = { algorithm: 2 as Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Returns the hash of a password, which is what the database stores. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize("NFC"), costs);
}

/** The hash that is checked for unknown names. */
let unknownNameHash: Promise<string> | undefined;

/** Computes the hash for unknown names in advance, so that the first check takes as long as others. */
export function preparePasswords(): void {
  unknownNameHash ??= hashPassword(randomPassword());
}

/**
 * Checks a password.
 *
 * @param storedHash the stored hash; null when there is no such administrator: the check then fails after the same time
 */
export async function isPassword(storedHash: string | null, password: string): Promise<boolean> {
  preparePasswords();
  const isRight = await verify(
    storedHash ?? (await unknownNameHash!),
    password.slice(0, maxPasswordCharacters),
  );
  return isRight && storedHash !== null;
}

/** Generates a random password in groups that are easy to type. */
export function randomPassword(): string {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789"; // 32, without 1, 0, l and o
  const text = Array.from(randomBytes(24), (byte) => letters[byte % 32]).join("");
  return text.match(/.{6}/g)!.join("-");
}

/** Returns why a new password is refused; null if it isn't. */
export function checkNewPassword(password: string, name: string): string | null {
  if ([...password].length < minPasswordCharacters)
    return `The new password needs at least ${minPasswordCharacters} characters.`;
  if (password.length > maxPasswordCharacters)
    return `The new password has more than ${maxPasswordCharacters} characters.`;
  if (password.toLowerCase().includes(name.toLowerCase()) && name.length > 3)
    return "The new password must not contain your name.";
  return new Set(password).size < 5 ? "The new password repeats too few characters." : null;
}
