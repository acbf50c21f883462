import type { FieldErrors } from "../../forms.ts";

/** What is wrong with a token's name. */
export function nameErrors(name: string): FieldErrors {
  if (name === "") return { name: "Enter a name for the token." };
  if ([...name].length > 100) return { name: "The name has more than 100 characters." };
  // \p{Cc}: control characters, of which Postgres refuses the null character
  return /\p{Cc}/u.test(name) ? { name: "The name contains a character that can’t be shown." } : {};
}
