import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const small = (title: string) => title.charAt(0).toLowerCase() + title.slice(1);

/** Rows of the guide: situation, what to do, what follows. */
const rows = read("docs/guides/situations.md")
  .split("\n")
  .filter((line) => /^\| (?!Situation |-)/.test(line))
  .map(
    (line) =>
      line
        .split("|")
        .slice(1, 4)
        .map((cell) => cell.trim()) as [string, string, string],
  );

/** Titles of tests in files of test/end-to-end. */
const titlesIn = (files: string, kind: string): string[] =>
  globSync(`test/end-to-end/${files}`, { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(new RegExp(`^ *(?:${kind})\\(\\s*"((?:[^"\\\\]|\\\\.)*)"`, "gm"))].map(
      ([, title]) => small(JSON.parse(`"${title}"`)),
    ),
  );

test("each situation of the guide has a test of its name, and each such test its row", () => {
  const situations = rows.map(([situation]) => small(situation));
  assert.equal(new Set(situations).size, situations.length);
  const tested = new Set(titlesIn("*.test.ts", "describe|it"));
  assert.deepEqual(
    situations.filter((situation) => !tested.has(situation)),
    [],
  );
  const shown = new Set(situations);
  const titles = ["situations*.test.ts", "dead-ends*.test.ts"].flatMap((files) =>
    titlesIn(files, "describe"),
  );
  assert.ok(titles.length >= 20);
  assert.deepEqual(
    titles.filter((title) => !shown.has(title)),
    [],
  );
});

test("each situation of the guide names calls, which exist", () => {
  const known = new Set(read("schema/unstable.graphql").match(/\w+/g));
  const mutations = new Set(
    [...read("schema/unstable.graphql").matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name!),
  );
  for (const [situation, ...cells] of rows) {
    const named = cells.map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!));
    const words = named.map((texts) => texts.flatMap((text) => text.match(/[A-Za-z]\w*/g) ?? []));
    assert.deepEqual(
      words.flat().filter((word) => !known.has(word)),
      [],
      situation,
    );
    assert.ok(
      words[0]!.some((word) => mutations.has(word)),
      `${situation}: what to do has no call`,
    );
  }
});
