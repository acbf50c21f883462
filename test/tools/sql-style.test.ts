import assert from "node:assert/strict";
import { test } from "node:test";
import { styleFaults } from "../../tools/sql-style.ts";

const body = (lines: number) => `create function erp.f() returns integer
language plpgsql as $$
begin
${"  perform 1;\n".repeat(lines - 5)}end
$$;
`;

/** For each rule, mistakes that it must find, with the line. */
const mistakes: [what: string, text: string, line: number, reason: RegExp][] = [
  ["a long line", `select 1;\nselect ${"1 + ".repeat(30)}1;\n`, 2, /^129 columns; 110 are allowed$/],
  ["white space at the end", "select 1; \n", 1, /white space/],
  ["a tab", "select\n\t1;\n", 2, /tab/],
  ["an odd indentation", "select\n   1;\n", 2, /multiple of two/],
  ["a keyword in upper case", "SELECT 1;\n", 1, /^SELECT, which/],
  ["upper case in a body", "do $$\nbegin\n  PERFORM 1;\nend\n$$;\n", 3, /^PERFORM, which/],
  ["upper case behind a string", "select 'it''s' AS a;\n", 1, /^AS, which/],
  ["no line feed at the end", "select 1;", 1, /line feed/],
  ["two line feeds at the end", "select 1;\n\n", 3, /line feed/],
  ["a long function", body(71), 1, /^erp\.f of 71 lines; 70 are allowed$/],
  [
    "a long function that is an expression",
    `create function erp.f() returns integer\nlanguage sql\nreturn 1${"\n  + 1".repeat(68)};\n`,
    1,
    /71 lines/,
  ],
  [
    "a long function with an atomic body",
    `create function erp.f() returns void\nlanguage sql\nbegin atomic\n${"  select 1;\n".repeat(67)}end;\n`,
    1,
    /71 lines/,
  ],
];
for (const [what, text, line, reason] of mistakes) {
  test(`finds ${what}`, () => {
    const faults = styleFaults(text);
    assert.equal(faults.length, 1, JSON.stringify(faults));
    assert.equal(faults[0]!.line, line);
    assert.match(faults[0]!.reason, reason);
  });
}

test("finds nothing in what is right", () => {
  const text = `-- Upper Case is for people
comment on view api.v is $$
@requiresScopes A:b
 Some words.$$;
comment on view api.w is E'It''s\\nA "text" \\' -- here'
  'AND there';
select "Column", $$Some TEXT$$ from t where a = 'An OR -- no comment' and b = E'C' and c = U&'D';
${body(70)}`;
  assert.deepEqual(styleFaults(text), []);
});
