/** A comment of a program: its text as Markdown, and the line on which it begins. */
export interface Comment {
  line: number;
  text: string;
}

/** Reads the doc comments of TypeScript, without their tags. */
export function docComments(code: string): Comment[] {
  return [...code.matchAll(/\/\*\*([\s\S]*?)\*\//g)].map((found) => ({
    line: lineAt(code, found.index),
    text: found[1]!
      .replaceAll(/^[ \t]*\*[ \t]?/gm, "")
      .replaceAll(/\{@link (\w+)[^}]*\}/g, "`$1`")
      .replace(/^\s*@[\s\S]*/m, "")
      .trim(),
  }));
}

/** Reads the texts of `comment on … is …` in SQL, without their tags. */
export function sqlComments(code: string): Comment[] {
  const statement =
    /^comment on [^;']*? is\s+(?:[eE]?'((?:[^'\\]|''|\\.|'\s*\n\s*')*)'|\$(\w*)\$([\s\S]*?)\$\2\$)/gm;
  return [...code.matchAll(statement)].map((found) => {
    const quoted = found[1]
      ?.replaceAll(/'\s*\n\s*'/g, "")
      .replaceAll("''", "'")
      .replaceAll("\\n", "\n");
    return {
      line: lineAt(code, found.index),
      text: (quoted ?? found[3]!).replaceAll(/^@.*$/gm, "").trim(),
    };
  });
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length;
