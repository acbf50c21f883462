/** A violation of our SQL style. */
export interface StyleFault {
  line: number;
  reason: string;
}

const maxColumns = 110;
const maxFunctionLines = 70;

/**
 * Checks SQL against our style: width and indentation of lines, lower case, and the length of functions. No formatter does
 * that, see docs/internals/decisions/ (checked style).
 */
export function styleFaults(text: string): StyleFault[] {
  const code = maskQuotedText(text).split("\n");
  const faults = text.split("\n").flatMap((line, i) => {
    const reasons: string[] = [];
    // A waiver is one line, however long the name of its object
    if (line.length > maxColumns && !line.startsWith("-- waive "))
      reasons.push(`${line.length} columns; ${maxColumns} are allowed`);
    if (/\s$/.test(line)) reasons.push("white space at its end");
    if (line.includes("\t")) reasons.push("a tab");
    if (/^(  )* \S/.test(code[i]!)) reasons.push("an indentation that is no multiple of two");
    const [word] = /[A-Za-z_]*[A-Z][A-Za-z_]*/.exec(code[i]!) ?? [];
    if (word !== undefined) reasons.push(`${word}, which is to be in lower case`);
    return reasons.map((reason) => ({ line: i + 1, reason }));
  });
  if (!text.endsWith("\n") || text.endsWith("\n\n"))
    faults.push({ line: text.split("\n").length, reason: "an end that is not one line feed" });
  return [...faults, ...longFunctions(code)];
}

function longFunctions(code: string[]): StyleFault[] {
  return code.flatMap((line, i) => {
    const [, name] = /^create (?:or replace )?(?:function|procedure) ([\w.]+)/.exec(line) ?? [];
    if (name === undefined) return [];
    const rest = code.slice(i);
    const begin = rest.findIndex((text) => /;$|\bas \$\w*\$$|^begin atomic$/.test(text));
    const end = rest[begin]?.endsWith(";")
      ? begin
      : rest.findIndex((text, at) => at > begin && /^(\$\w*\$|end);$/.test(text));
    return end < maxFunctionLines
      ? []
      : [{ line: i + 1, reason: `${name} of ${end + 1} lines; ${maxFunctionLines} are allowed` }];
  });
}

// Text in dollar quotes is skipped, unless it is a body, after `as` or `do`; its end begins the line
const noCode =
  /--[^\n]*|(?<!\b(?:as|do) |^)\$(\w*)\$[^]*?\$\1\$|\bE'(?:[^'\\]|''|\\[^])*'|(?:\bU&)?'(?:[^']|'')*'|"[^"]*"/gm;

/** Replaces comments and quoted texts by apostrophes. */
function maskQuotedText(text: string): string {
  return text.replace(noCode, (match) => match.replace(/[^\n]/g, "'"));
}
