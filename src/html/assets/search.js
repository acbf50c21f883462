// Searches the documentation. script.js loads this module when the search field gets the focus.

const stopWords = new Set(
  "a an and are as at be but by can do does for from how i if in into is it its my of on or that the their them then there this to what when where which who why will with you your".split(
    " ",
  ),
);

const wordsOf = (text) => text.match(/[\p{L}\p{N}_]+/gu) ?? [];

/** Splits a text into words, and into the parts of names such as stockAdjust and PRODUCT_HAS_VARIANTS. */
const partsOf = (text) =>
  wordsOf(text).flatMap((word) => {
    const parts = word.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{N}]+|\p{N}+/gu) ?? [];
    return parts.length > 1 ? [word, ...parts] : [word];
  });

/** Returns a word in lower case and in the singular, or null for a stop word. */
function termOf(word) {
  const term = word.toLowerCase();
  if (stopWords.has(term)) return null;
  return term.length > 3 ? term.replace(/ies$/, "y").replace(/(?<![su])s$/, "") : term;
}

/** Weights of entries by kind. Every other kind is the title of a guide; its entries are sections of that guide. */
const weights = {
  ...{ Guide: 2.2, Query: 1, Mutation: 1, Subscription: 1, Object: 1, Event: 1, Enum: 0.8, Scalar: 0.7 },
  ...{ Error: 0.6, Input: 0.6, Payload: 0.5, List: 0.4, Aggregate: 0.4, Filter: 0.4, Field: 0.4, Value: 0.4 },
  ...{ "Data model": 0.6, Settings: 0.7, "The database": 0.8, Architecture: 0.8 },
};
const weightOfSection = 1.4;

/** Returns the share of letters that may differ. Short words and numbers must match exactly. */
const fuzzy = (term) => (term.length > 3 && !/\d/.test(term) ? 0.25 : false);

/** Returns the weight factor of an entry whose title is the typed text or begins with it. */
function titleFactor([title, kind], typed) {
  if (title === typed) return kind in weights ? 8 : 2;
  const [name, text] = [title.toLowerCase(), typed.toLowerCase()];
  const isSame = termOf(title) === termOf(typed) || name.endsWith(`.${text}`);
  if (isSame) return kind in weights ? 4 : 2;
  // "stock adjust" is typed for stockAdjust
  const joined = text.replaceAll(" ", "");
  return name.startsWith(text) || name.startsWith(joined) || name.includes(`.${text}`) ? 2 : 1;
}

/** Returns a function that finds the entries for a text, best match first. MiniSearch is the library's class. */
export function openIndex(MiniSearch, { entries, synonyms }) {
  const fields = ["title", "kind", "about", "words"];
  const index = new MiniSearch({ fields, tokenize: partsOf, processTerm: termOf });
  index.addAll(entries.map(([title, kind, , about, words], id) => ({ id, title, kind, about, words })));
  const meanings = Object.entries(synonyms).flatMap(([ours, typed]) =>
    typed.map((each) => ({
      ours,
      pattern: new RegExp(`(?<![\\p{L}\\p{N}])${each}s?(?![\\p{L}\\p{N}])`, "iu"),
    })),
  );
  const options = {
    prefix: (term) => term.length > 1,
    fuzzy,
    weights: { prefix: 0.6, fuzzy: 0.25 },
    boost: { title: 4, kind: 1.5, about: 1.5 },
    boostDocument: (id) => weights[entries[id][1]] ?? weightOfSection,
  };
  return (text) => {
    const rephrased = meanings
      .filter(({ pattern }) => pattern.test(text))
      .map(({ ours, pattern }) => text.replace(pattern, ours));
    const search = (combineWith, tokenize) => {
      const queries = [text, ...rephrased].map((each) => ({ queries: [each], combineWith }));
      return index.search({ combineWith: "OR", queries }, { ...options, tokenize });
    };
    let found = search("AND", wordsOf);
    if (found.length === 0) found = search("OR", partsOf);
    return found
      .map(({ id, score }) => ({ entry: entries[id], score: score * titleFactor(entries[id], text.trim()) }))
      .sort((a, b) => b.score - a.score)
      .map(({ entry }) => entry);
  };
}
