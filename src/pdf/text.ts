/** Longest text that is printed in full, in characters, and the most line breaks in it. */
const maxCharacters = 1_000;
const maxBreaks = 20;
/** Longest run of characters without a place to break the line. */
const maxWordCharacters = 24;

// Spaces that the font lacks; Intl puts the first between the digits of French numbers
const rareSpaces = /[\u202f\u2007]/g;
// Characters without a shape, or that would reverse the direction of text
const invisibleCharacters = /(?!\n)\p{Cc}|\p{Cf}|\p{Cs}|[\ufe00-\ufe0f]/gu;
// Not in the font in any case, and pdfmake would cut such a character in two
const astralCharacters = /[\u{10000}-\u{10ffff}]/gu;

/**
 * Prepares a text from the database for printing: composed characters, no empty lines, limited length. Characters that the
 * font lacks are printed as boxes.
 */
export function plainText(text: string): string {
  let breaks = 0;
  const clean = removeUnprintable(text.slice(0, maxCharacters * 4).normalize("NFC"))
    .replace(/ *\n[ \n]*/g, () => (++breaks > maxBreaks ? " " : "\n"))
    .trim();
  return clean.length > maxCharacters ? `${clean.slice(0, maxCharacters - 1)}…` : clean;
}

/** Removes unprintable characters. */
export function removeUnprintable(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(/[\t\v\f ]+/g, " ")
    .replace(rareSpaces, "\u00a0")
    .replace(invisibleCharacters, "")
    .replace(astralCharacters, "\ufffd");
}

/** Lets long words break, so that they stay in their column. */
export function breakLongWords(text: string): string {
  return text.replace(new RegExp(`\\S{${maxWordCharacters}}(?=\\S)`, "gu"), "$&\u200b");
}
