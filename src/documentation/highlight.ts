import { html } from "../html/html.ts";
import type { Content } from "../html/html.ts";

const keywords: Record<string, string> = {
  graphql:
    "query|mutation|subscription|fragment|on|type|input|enum|scalar|interface|union|directive|implements|true|false|null",
  json: "true|false|null",
  sh: "export|if|then|fi|for|do|done|curl|npm|node|npx|git|cd|python3|php",
  sql: "add|alter|and|as|begin|by|check|column|comment|constraint|create|default|delete|drop|exists|false|foreign|from|function|grant|group|if|in|index|insert|into|is|join|key|language|not|null|on|or|order|primary|references|returns|revoke|select|set|table|then|to|true|unique|update|using|values|view|when|where|with",
  ts: "async|await|const|else|export|for|from|function|if|import|interface|let|new|null|of|return|throw|true|false|type|while",
  python: "as|def|else|False|for|from|if|import|in|None|not|print|raise|return|True|while|with",
  php: "as|echo|else|false|foreach|function|if|new|null|return|true|use",
};

const comments: Record<string, string> = {
  // A number sign in a shell is a comment only after a blank
  sh: "(?<=^|\\s)#.*",
  sql: "--.*",
  ts: "\\/\\/.*",
  php: "(?:\\/\\/|#).*",
  json: "(?!)",
};
const text = String.raw`"""[^]*?"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|` + "`[^`]*`";

/** Returns the pattern of coloured words. The first alternative that matches counts. Its groups are CSS classes. */
const buildPattern = (language: string, words: string): RegExp =>
  new RegExp(
    `(?<comment>${comments[language] ?? "#.*"})|(?<text>${text})|(?<name>[$@][A-Za-z_]\\w*)|` +
      `(?<number>\\b\\d[\\d_.]*\\b)|(?<word>\\b(?:${words})\\b)`,
    "gm",
  );

const patterns = new Map(Object.entries(keywords).map(([name, words]) => [name, buildPattern(name, words)]));

/** Returns code with coloured words. Code in unknown languages is returned unchanged. */
export function highlight(code: string, language: string): Content {
  const pattern = patterns.get(language);
  if (!pattern) return code;
  const parts: Content[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const [kind, found] = Object.entries(match.groups!).find(([, value]) => value !== undefined)!;
    parts.push(code.slice(end, match.index), html`<span class="c-${kind}">${found}</span>`);
    end = match.index + found.length;
  }
  return [...parts, code.slice(end)];
}
