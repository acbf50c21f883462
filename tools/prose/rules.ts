/** Running text, such as a document or a line comment; or a comment or description that says what a thing is. */
export type ProseKind = "document" | "comment";

/** A rule about words: a pattern that must not occur in prose, with a better expression. */
export interface WordRule {
  id: string;
  /** Matched without regard to case. A space also matches the end of a line. */
  pattern: string;
  /** The pattern only counts at the beginning of each sentence, or of the first one of a paragraph. */
  at?: "sentence" | "beginning";
  /** The rule only applies to one kind of text. */
  only?: ProseKind;
  /** A better expression, or what to do. */
  instead: string;
  /** A mistake that the rule finds; a test tries it. */
  example: string;
}

/** The highest number of words in a sentence. A code span is one word. */
export const maxWords = 30;

/** The rules about words. Text in code spans and code blocks is exempt. */
export const wordRules: readonly WordRule[] = [
  {
    id: "tell-of",
    pattern: "\\b(tells?|told|telling) of\\b",
    instead: "say that a part emits, logs or reports something",
    example: "No event tells of tags.",
  },
  {
    id: "as-they-come",
    pattern: "\\bas (they|it) comes?\\b",
    instead: 'write "by default" or "unsorted"',
    example: "Take the rows as they come.",
  },
  {
    id: "by-hand",
    pattern: "\\bby hand\\b",
    instead: 'write "manually", or who does it',
    example: "Start the backup by hand.",
  },
  {
    id: "anew",
    pattern: "\\banew\\b",
    instead: 'write "again" or "recreate"',
    example: "The command makes the database anew.",
  },
  {
    id: "way-out",
    pattern: "\\bways? out\\b",
    instead: 'write "remedy" or "how to fix it"',
    example: "Every error names a way out.",
  },
  {
    id: "has-to-do-with",
    pattern: "\\bwhat has to do with\\b",
    instead: "name the things",
    example: "This is what has to do with orders.",
  },
  {
    id: "that-of",
    pattern: "\\b(that|those) of\\b",
    instead: "repeat the noun, or write a possessive",
    example: "The scope is that of the view.",
  },
  {
    id: "ask-for",
    pattern: "\\bask(s|ed|ing)? for\\b",
    instead: 'write "request"',
    example: "Clients ask for fields.",
  },
  {
    id: "test-runs-page",
    pattern: "\\ba test (runs|executes|tries) (this|each|every) (page|guide)\\b",
    instead: "leave it out: readers don't act on it",
    example: "A test runs this page.",
  },
  {
    id: "begins-with-those",
    pattern: "(those|whoever)\\b",
    at: "sentence",
    instead: "begin with the noun",
    example: "Orders are kept. Those that are paid are closed.",
  },
  {
    id: "begins-with-what",
    pattern: "(what|who)\\b[^?]*[.:]\\s*$",
    at: "sentence",
    only: "document",
    instead: "begin with the noun, or say who does it",
    example: "What is left out stays as it is.",
  },
  {
    id: "comment-begins-with-what",
    pattern: "(what|who|whose|whom|where|which|if)\\b",
    at: "beginning",
    only: "comment",
    instead: 'begin with a noun or a verb: "Returns …", "A pool of …"',
    example: "Where the next page begins.",
  },
];
