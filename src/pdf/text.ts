/** The longest text that is printed in full, in characters, and the most line breaks in it that count. */
const maxCharacters = 1_000;
const maxBreaks = 20;
/** The longest run of characters without a place to break the line. */
const maxWordCharacters = 24;

// Spaces that the font lacks; Intl puts the first between the digits of French numbers
const rareSpaces = /[\u202f\u2007]/g;
// What has no shape of its own, or would turn the direction of what follows
const shapeless = /(?!\n)\p{Cc}|\p{Cf}|\p{Cs}|[\ufe00-\ufe0f]/gu;
// Beyond the font in any case, and pdfmake would cut such a character in two
const emojiAndTheLike = /[\u{10000}-\u{10ffff}]/gu;

/**
 * A text from the database as something to put on a page: composed characters, no empty lines, and an end. Characters
 * that the font lacks come out as boxes.
 */
export function plain(text: string): string {
  let breaks = 0;
  const clean = printable(text.slice(0, maxCharacters * 4).normalize("NFC"))
    .replace(/ *\n[ \n]*/g, () => (++breaks > maxBreaks ? " " : "\n"))
    .trim();
  return clean.length > maxCharacters ? `${clean.slice(0, maxCharacters - 1)}…` : clean;
}

/** A text with nothing in it but characters that have a place on a page. */
export function printable(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(/[\t\v\f ]+/g, " ")
    .replace(rareSpaces, "\u00a0")
    .replace(shapeless, "")
    .replace(emojiAndTheLike, "\ufffd");
}

/** Lets long words go on in the next line, so that they leave no column. */
export function breakable(text: string): string {
  return text.replace(new RegExp(`\\S{${maxWordCharacters}}(?=\\S)`, "gu"), "$&\u200b");
}
