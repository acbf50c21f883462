/** The longest text that is printed in full, in characters. */
const longestText = 2_000;
/** The longest run of characters without a place to break the line. */
const longestWord = 24;

// Spaces that the font lacks; Intl puts the first between the digits of French numbers
const rareSpaces = /[\u202f\u2007]/g;
// What has no shape of its own, or would turn the direction of what follows
const shapeless = /(?!\n)\p{Cc}|\p{Cf}|\p{Cs}|[\ufe00-\ufe0f]/gu;

/**
 * A text from the database as something to put on a page: composed characters, no empty lines, and an end. Characters
 * that the font lacks stay; they are printed as an empty box.
 */
export function plain(text: string): string {
  const clean = printable(text.slice(0, longestText * 4).normalize("NFC"))
    .replace(/ *\n[ \n]*/g, "\n")
    .trim();
  const characters = [...clean];
  return characters.length > longestText ? `${characters.slice(0, longestText - 1).join("")}…` : clean;
}

/** A text with nothing in it but characters that have a place on a page. */
export function printable(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(/[\t\v\f ]+/g, " ")
    .replace(rareSpaces, "\u00a0")
    .replace(shapeless, "");
}

/** Lets long words go on in the next line, so that they leave no column. */
export function breakable(text: string): string {
  return text.replace(new RegExp(`\\S{${longestWord}}(?=\\S)`, "gu"), "$&\u200b");
}
