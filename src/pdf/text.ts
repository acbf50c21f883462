/** Longest text that is printed in full, in characters, and the most line breaks in it. */
const maxCharacters = 1_000;
const maxBreaks = 20;
/** Longest run of characters without a place to break the line. */
const maxWordCharacters = 24;

// Spaces that the font lacks; Intl puts the first between the digits of French numbers
const rareSpaces = /[\u202f\u2007]/g;
// Characters without a shape, or that would reverse the direction of text
const invisibleCharacters = /(?!\n)\p{Cc}|\p{Cf}|\p{Cs}|[\ufe00-\ufe0f]/gu;
// pdfmake would cut such a character in two
const astralCharacters = /[\u{10000}-\u{10ffff}]/gu;
// All but Roboto's Latin, Greek and Cyrillic letters, punctuation and symbols. For the others it would print its empty box,
// which PDF/A forbids
const missingCharacters = new RegExp(
  `[^\\n${[
    " -~\\xa0-\\u017f\\u01a0\\u01a1\\u01af\\u01b0\\u0218-\\u021b\\u1e80-\\u1e85\\u1e9e\\u1ea0-\\u1ef9",
    "\\u0384-\\u038a\\u038c\\u038e-\\u03a1\\u03a3-\\u03ce\\u0400-\\u0486\\u0488-\\u0513",
    "\\u2000-\\u200b\\u2010\\u2011\\u2013-\\u2015\\u2017-\\u201e\\u2020-\\u2022\\u2026\\u2030\\u2032\\u2033\\u2039\\u203a\\u2044\\u2070\\u2074-\\u208e",
    "\\u20a3\\u20a4\\u20a6-\\u20ac\\u20b1\\u20b9\\u20ba\\u20bc\\u20bd\\u2116\\u2122\\u2212\\u2248\\u2260\\u2264\\u2265\\ufffd",
  ].join("")}]`,
  "g",
);

/**
 * Prepares a text from the database for printing: composed characters, no empty lines, limited length. U+FFFD replaces
 * characters that the font lacks.
 */
export function plainText(text: string): string {
  let breaks = 0;
  const clean = removeUnprintable(text.slice(0, maxCharacters * 4).normalize("NFC"))
    .replace(/ *\n[ \n]*/g, () => (++breaks > maxBreaks ? " " : "\n"))
    .trim();
  return clean.length > maxCharacters ? `${clean.slice(0, maxCharacters - 1)}…` : clean;
}

/** Removes or replaces unprintable characters. */
export function removeUnprintable(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(/[\t\v\f ]+/g, " ")
    .replace(rareSpaces, "\u00a0")
    .replace(invisibleCharacters, "")
    .replace(astralCharacters, "\ufffd")
    .replace(missingCharacters, "\ufffd");
}

/** Lets long words break, so that they stay in their column: best after the @ of an email address. */
export function breakLongWords(text: string): string {
  return text.replace(longWords, (word) => word.replaceAll("@", "@\u200b").replace(longRuns, "$&\u200b"));
}
const longWords = new RegExp(`\\S{${maxWordCharacters + 1},}`, "gu");
const longRuns = new RegExp(`[^\\s\u200b]{${maxWordCharacters}}(?=[^\\s\u200b])`, "gu");
