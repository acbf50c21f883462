import assert from "node:assert/strict";
import { test } from "node:test";
import { descriptions, docComments, lineComments, sqlComments } from "../../tools/prose/comments.ts";
import type { Comment } from "../../tools/prose/comments.ts";
import { lintProse } from "../../tools/prose/lint.ts";
import { maxWords, wordRules } from "../../tools/prose/rules.ts";

for (const { id, example, only } of wordRules) {
  test(`finds a mistake against ${id}`, async () => {
    for (const text of [example, `A line.\n\n- **${example}**`, `| a |\n| - |\n| ${example} |`]) {
      const findings = await lintProse(text, only ?? "document");
      assert.deepEqual([...new Set(findings.map(({ rule }) => rule))], [id], text);
      assert.equal(findings.length, 1, text);
      assert.equal(findings[0]!.line, text.split("\n").length);
    }
  });
}

const words = (count: number) => `Word ${"word ".repeat(count - 2)}\`one code span\`.`;

test("finds a long sentence, not two short ones", async () => {
  const [finding, ...others] = await lintProse(`${words(4)}\n${words(maxWords + 1)}`, "document");
  assert.deepEqual(others, []);
  assert.equal(finding!.rule, "long-sentence");
  assert.equal(finding!.line, 2);
  assert.deepEqual(await lintProse(`${words(maxWords)} ${words(4)}`, "document"), []);
});

test("finds an expression that a line breaks", async () => {
  const [finding] = await lintProse("Text.\n\nStart it by\nhand.", "document");
  assert.equal(finding?.rule, "by-hand");
  assert.equal(finding.line, 3);
});

test("finds nothing in code, nor in documents what only comments mustn't have", async () => {
  const text = "What to do? Write `by hand`.\n\n```\nanew\n```\n\n    anew\n\n<!-- anew -->\n";
  assert.deepEqual(await lintProse(text, "document"), []);
});

const withLines = (source: string, comments: Comment[]) =>
  comments.map(({ begin, text }) => ({ line: source.slice(0, begin).split("\n").length, text }));

test("reads the texts of doc comments and SQL comments", () => {
  const code = `/** A pool. */\nconst a = 1; // b\n/**\n * Returns {@link b}.\n * Twice.\n * @param c - d\n */\n`;
  assert.deepEqual(withLines(code, docComments(code)), [
    { line: 1, text: "A pool." },
    { line: 3, text: "Returns `b`.\nTwice." },
  ]);
  const sql = `select 1;\ncomment on table a is 'It''s one.';\ncomment on column a.b is\n  'One'\n  ' line.';
comment on view c is $$\n@name d\nA view.$$;\ncomment on type e is E'@name f\\nA type.';\n`;
  assert.deepEqual(withLines(sql, sqlComments(sql)), [
    { line: 2, text: "It's one." },
    { line: 3, text: "One line." },
    { line: 6, text: "A view." },
    { line: 9, text: "A type." },
  ]);
});

test("reads line comments and descriptions of a schema", () => {
  const code = "const a = 1; // b\n  // One\n  // comment.\n\n-- Another.\n--! include c\n";
  assert.deepEqual(withLines(code, lineComments(code)), [
    { line: 2, text: "One\ncomment." },
    { line: 5, text: "Another." },
  ]);
  const sdl = '"""A type."""\ntype A {\n  "A field."\n  b("An argument." c: Int): Int\n}\n';
  assert.deepEqual(withLines(sdl, descriptions(sdl)), [
    { line: 1, text: "A type." },
    { line: 3, text: "A field." },
    { line: 4, text: "An argument." },
  ]);
});
