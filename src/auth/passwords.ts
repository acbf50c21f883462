import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import type { Algorithm } from "@node-rs/argon2";

/** Shorter passwords are refused. */
export const minPasswordCharacters = 12;
/** So are longer ones, which would only cost time. */
const maxPasswordCharacters = 200;

// Parameters of argon2id that OWASP demands at least: 19 MiB, two rounds
const costs = { algorithm: 2 as Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The hash that is stored for a password. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize("NFC"), costs);
}

/** The hash of unknown names, for all administrations of a process. */
let nobodys: Promise<string> | undefined;

/** Makes what checking needs beforehand, so that the first unknown name takes as long as others. */
export function preparePasswords(): void {
  nobodys ??= hashPassword(randomPassword());
}

/**
 * Whether a password is right.
 *
 * @param kept null when there is no such administrator: the check takes as long, and is never right
 */
export async function isPassword(kept: string | null, password: string): Promise<boolean> {
  preparePasswords();
  const isRight = await verify(kept ?? (await nobodys!), password.slice(0, maxPasswordCharacters));
  return isRight && kept !== null;
}

/** A random password in groups that are easy to type. */
export function randomPassword(): string {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789"; // 32, without 1, 0, l and o
  const text = Array.from(randomBytes(24), (byte) => letters[byte % 32]).join("");
  return text.match(/.{6}/g)!.join("-");
}

/** Why a new password is refused; null when it isn't. */
export function complaintAbout(password: string, name: string): string | null {
  if ([...password].length < minPasswordCharacters)
    return `The new password needs at least ${minPasswordCharacters} characters.`;
  if (password.length > maxPasswordCharacters)
    return `The new password has more than ${maxPasswordCharacters} characters.`;
  if (password.toLowerCase().includes(name.toLowerCase()) && name.length > 3)
    return "The new password must not contain your name.";
  return new Set(password).size < 5 ? "The new password repeats too few characters." : null;
}
