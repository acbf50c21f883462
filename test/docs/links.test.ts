import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, it } from "node:test";

const root = new URL("../../", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), "utf8");
const withoutCode = (page: string): string => page.replace(/^```[^]*?^```$/gm, "").replace(/^ {4}.*$/gm, "");

/** The anchors that GitHub gives a page's headings. */
function anchorsOf(page: string): Set<string> {
  const headings = [...withoutCode(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** Links and images of a page that refer to our files. */
const linksOf = (page: string): string[] =>
  [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
    .map(([, link, attribute]) => (link ?? attribute)!)
    .filter((link) => !/^[a-z]+:/.test(link));

/** Links to missing files and headings. */
function deadLinks(file: string, page = read(file)): string[] {
  return linksOf(page).filter((link) => {
    const [path, anchor] = link.split("#");
    const target = path ? posix.join(posix.dirname(file), path) : file;
    if (!existsSync(new URL(target, root))) return true;
    return anchor !== undefined && !anchorsOf(target === file ? page : read(target)).has(anchor);
  });
}

describe("links between pages", () => {
  const pages = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" }).trim().split("\n");
  for (const file of pages) {
    it(`of ${file} lead to files and headings that exist`, () => assert.deepEqual(deadLinks(file), []));
  }

  it("are found when they are dead", () => {
    const page =
      "# A page\n[1](#a-page) [2](#another) [3](webhooks.md#no-such-heading) [4](no-such-file.md) [5](webhooks.md#subscribe)";
    const dead = ["#another", "webhooks.md#no-such-heading", "no-such-file.md"];
    assert.deepEqual(deadLinks("docs/guides/stock.md", page), dead);
  });
});

describe("the figures of the README", () => {
  it("are those of the last benchmark", () => {
    const table = read("bench/results/side-by-side.md").split("## Share of LIMIT, at 32 connections")[1]!;
    // One share, or those of two runs
    const reads = [...table.split("\n## ")[0]!.matchAll(/^\| [A-K] .*$/gm)].map(([row]) =>
      row
        .split("|")
        .slice(2, -1)
        .map((shares) => (shares.match(/[\d.]+/g) ?? []).map(Number)),
    );
    const range = (shares: number[]): string =>
      `${Math.min(...shares).toFixed(2)} to ${Math.max(...shares).toFixed(2)} times`;
    const service = reads.flatMap(([shares]) => shares!);
    const others = reads.flatMap((row) => row.slice(3).flat());
    assert.equal(reads.length, 11);
    const readme = read("README.md").replaceAll(/\s+/g, " ");
    assert.ok(readme.includes(`answers reads at ${range(service)} LIMIT's rate`), range(service));
    assert.ok(readme.includes(`the other GraphQL servers at ${range(others)}`), range(others));
  });
});
