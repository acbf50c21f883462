import { TextlintKernel } from "@textlint/kernel";
import type { TextlintKernelOptions } from "@textlint/kernel";
import markdown from "@textlint/textlint-plugin-markdown";
import { maxWords, wordRules } from "./rules.ts";
import type { ProseKind } from "./rules.ts";

/** A place in a text where prose breaks a rule. */
export interface Finding {
  rule: string;
  line: number;
  message: string;
}

/** A part of a text: where it begins, and what it says. */
interface Part {
  begin: number;
  text: string;
}

type Rule = Extract<NonNullable<TextlintKernelOptions["rules"]>[number]["rule"], (...args: never) => unknown>;
/** The fields of a node of textlint's syntax tree that are read here. */
interface TextNode {
  type: string;
  range: readonly [begin: number, end: number];
  children?: TextNode[];
}

const kernel = new TextlintKernel();
const plugins = [{ pluginId: "markdown", plugin: markdown.default }];
const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

const rules = { document: rulesFor("document"), comment: rulesFor("comment") };

/** Finds the places where Markdown breaks a rule. Some rules are only for documents or comments. */
export async function lintProse(text: string, kind: ProseKind): Promise<Finding[]> {
  const { messages } = await kernel.lintText(text, {
    ext: ".md",
    filePath: "text.md",
    plugins,
    rules: rules[kind],
  });
  return messages.map(({ ruleId, message, loc }) => ({ rule: ruleId, line: loc.start.line, message }));
}

function rulesFor(kind: ProseKind) {
  const words = wordRules
    .filter(({ only }) => only === undefined || only === kind)
    .map(({ id, pattern, at, instead }) => {
      const source = pattern.replaceAll(" ", "\\s+");
      const expression = new RegExp(at === undefined ? source : `^[\\s"'(]*${source}`, "gi");
      return rule(id, (parts) => {
        const searched = at === "beginning" ? parts.slice(0, 1) : parts;
        return searched.flatMap((part) =>
          [...part.text.matchAll(expression)].map((found) => ({
            at: part.begin + found.index + found[0].search(/\S/),
            message: `"${found[0].trim()}": ${instead}`,
          })),
        );
      });
    });
  return [...words, rule("long-sentence", longSentences)];
}

function longSentences(parts: Part[]): { at: number; message: string }[] {
  return parts.flatMap(({ begin, text }) => {
    const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
    if (words <= maxWords) return [];
    const message = `a sentence of ${words} words; ${maxWords} are allowed`;
    return [{ at: begin + text.search(/\S/), message }];
  });
}

/** The sentences of nodes, which all rules read. */
const sentencesOfNodes = new WeakMap<object, Part[]>();

/** Makes a rule of textlint from a function that finds mistakes in the sentences of a paragraph, heading or cell. */
function rule(ruleId: string, find: (parts: Part[]) => { at: number; message: string }[]) {
  const reporter: Rule = ({ RuleError, getSource, locator, report }) => {
    const lintNode = (node: Parameters<typeof report>[0]) => {
      let sentences = sentencesOfNodes.get(node);
      if (sentences === undefined)
        sentencesOfNodes.set(node, (sentences = sentencesOf(node, getSource(node))));
      for (const { at, message } of find(sentences))
        report(node, new RuleError(message, { padding: locator.at(at) }));
    };
    return { Paragraph: lintNode, Header: lintNode, TableCell: lintNode };
  };
  return { ruleId, rule: reporter };
}

/** Splits a node into sentences. The text has the length of its source: markup is blank, code a word in upper case. */
function sentencesOf(node: TextNode, source: string): Part[] {
  const characters = Array<string>(source.length).fill(" ");
  const copy = ({ type, range, children }: TextNode) => {
    const [begin, end] = range.map((index) => index - node.range[0]) as [number, number];
    for (let i = begin; i < end; i++) {
      if (type === "Code") characters[i] = "X";
      if (type === "Str") characters[i] = source[i] === "\n" ? " " : source[i]!;
    }
    children?.forEach(copy);
    // A sentence can begin with a link in lower case, such as a path
    if (type === "Link" && end > begin + 1) characters[begin + 1] = characters[begin + 1]!.toUpperCase();
  };
  copy(node);
  return [...sentences.segment(characters.join(""))].map(({ index, segment }) => ({
    begin: index,
    text: segment,
  }));
}
