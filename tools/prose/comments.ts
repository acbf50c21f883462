import { parse, visit } from "graphql";

/** A comment of a program: where it begins, and its text as Markdown. */
export interface Comment {
  begin: number;
  text: string;
}

/** Reads the doc comments of TypeScript, without their tags. */
export function docComments(code: string): Comment[] {
  return [...code.matchAll(/\/\*\*([\s\S]*?)\*\//g)].map((found) => ({
    begin: found.index,
    text: found[1]!
      .replaceAll(/^[ \t]*\*[ \t]?/gm, "")
      .replaceAll(/\{@link (\w+)[^}]*\}/g, "`$1`")
      .replace(/^\s*@[\s\S]*/m, "")
      .trim(),
  }));
}

/** Reads the comments of TypeScript and SQL that end with their line. Adjacent lines are one comment. */
export function lineComments(code: string): Comment[] {
  return [...code.matchAll(/^[ \t]*(\/\/|--) (?![!#]).*(?:\n[ \t]*\1 .*)*/gm)].map((found) => ({
    begin: found.index,
    text: found[0].replaceAll(/^[ \t]*(\/\/|--) /gm, ""),
  }));
}

/** Reads the texts of `comment on … is …` in SQL, without their tags. Frozen versions are left out: they never change. */
export function sqlComments(code: string): Comment[] {
  const statement =
    /^comment on (?!\w+ api_\d)[^;']*? is\s+(?:[eE]?'((?:[^'\\]|''|\\.|'\s*\n\s*')*)'|\$(\w*)\$([\s\S]*?)\$\2\$)/gm;
  return [...code.matchAll(statement)].map((found) => {
    const quoted = found[1]
      ?.replaceAll(/'\s*\n\s*'/g, "")
      .replaceAll("''", "'")
      .replaceAll("\\n", "\n");
    return {
      begin: found.index,
      text: (quoted ?? found[3]!).replaceAll(/^@.*$/gm, "").trim(),
    };
  });
}

/** Reads the descriptions of types, fields, arguments and values in a GraphQL schema. */
export function descriptions(sdl: string): Comment[] {
  const found: Comment[] = [];
  visit(parse(sdl), {
    enter(node) {
      const text = "description" in node ? node.description : undefined;
      if (text?.loc !== undefined) found.push({ begin: text.loc.start, text: text.value });
    },
  });
  return found;
}
